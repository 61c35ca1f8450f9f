#!/usr/bin/env bash
# slurm_matrix.sh BATON: a matrix on a one-node Slurm that this script starts and stops, as root,
# with Debian's slurm-wlm and munge; an array task compiles a key. Not part of ./dev test.
set -euo pipefail

baton=$(realpath "$1")
matrix=$(realpath "$(dirname "$0")/../../builds/kimi_k3/deployment.toml")
work=$(mktemp -d)
keys=12
host=$(hostname -s)

for program in slurmctld slurmd munged sbatch squeue; do
  command -v "$program" >/dev/null && continue
  echo "slurm_matrix: no $program: apt-get install slurm-wlm munge" >&2
  exit 3
done

cat >"$work/slurm.conf" <<CONF
ClusterName=baton
SlurmctldHost=$host
AuthType=auth/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
mkdir "$work/state" "$work/spool" /run/munge 2>/dev/null || true
export SLURM_CONF=$work/slurm.conf

munge_started=
stop() {
  for daemon in slurmd slurmctld; do
    [[ -f $work/$daemon.pid ]] && kill "$(cat "$work/$daemon.pid")" || true
  done
  [[ -z $munge_started ]] || kill "$(cat /run/munge/munged.pid)" || true
  rm -rf "$work"
}
trap stop EXIT
if ! pgrep -x munged >/dev/null; then
  munge_started=1
  chown munge: /run/munge
  runuser -u munge -- munged
fi
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"

# The keys, one a line, are those of the plan; a task takes one line.
"$baton" matrix "$matrix" --out "$work/out" --plan "$work/plan.ninja"
sed -n 's/^  key = //p' "$work/plan.ninja" | sed -n "1,${keys}p" >"$work/keys"
cat >"$work/task.sh" <<TASK
#!/bin/sh
exec '$baton' matrix --only "\$(sed -n "\${SLURM_ARRAY_TASK_ID}p" '$work/keys')" --arch gfx950 \
  --out '$work/out' -j 1
TASK
sbatch --wait --array="1-$keys" --output="$work/task-%a.log" "$work/task.sh"

made=$(find "$work/out/v1/objects" -name entry.json | wc -l)
echo "slurm_matrix: $made of $keys keys compiled by array tasks"
[[ $made -eq $keys ]]
