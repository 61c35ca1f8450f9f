#!/usr/bin/env bash
# tests/fuzz/run.sh SECONDS [TARGET...]: builds the fuzzers under AddressSanitizer and UBSan and
# runs each that long, on from what earlier runs found. Exits 1 when one finds something; the input
# that did it stays in build-sanitize/fuzz/TARGET-*.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage="usage: tests/fuzz/run.sh SECONDS [key|matrix|record|safetensors|code_object|emulator]..."
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || { echo "$usage" >&2; exit 2; }
seconds=$1
shift
targets=("$@")
[[ $# -gt 0 ]] || targets=(key matrix record safetensors code_object emulator)

build=build-sanitize
[[ -f $build/build.ninja ]] || cmake --preset sanitize
cmake --build $build --target "${targets[@]/#/fuzz_}"

for target in "${targets[@]}"; do
  seeds=tests/fuzz/corpus/$target
  dictionary=tests/fuzz/$target.dict
  if [[ $target == code_object || $target == emulator ]]; then
    seeds=$build/tests/runtime/objects
    dictionary=tests/fuzz/code_object.dict
  fi
  mkdir -p "$build/fuzz/$target"
  echo "== $target, $seconds s"
  "$build/tests/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -dict="$dictionary" \
    -artifact_prefix="$build/fuzz/$target-" "$build/fuzz/$target" "$seeds"
done
echo "no findings"
