#!/bin/sh
# usage: check_level_symbols.sh LEVEL OBJECT...
# Code compiled for a level of the host's vector instructions must not define a weak symbol outside
# its own namespace: the linker could choose it for code that runs on an older CPU.
level=$1
shift
found=$(nm -C --defined-only "$@" | grep -E ' [WVu] ' | grep -v "isa_$level" |
  grep -v 'DW.ref.__gxx_personality_v0')
[ $# -gt 0 ] || { echo "no objects"; exit 1; }
[ -z "$found" ] || { echo "weak symbols of level $level:"; echo "$found"; exit 1; }
