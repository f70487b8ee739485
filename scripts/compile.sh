#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiler launcher: through ccache where there is one, and notes the CPU seconds of each real compilation
# in compile_times.txt of the build folder, for scripts/guards/compile_time.py.
if [ -z "${SX_TIMED:-}" ]; then
  here=$(cd "$(dirname "$0")" && pwd)
  export SX_TIMED=$PWD/compile_times.txt
  if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=${CCACHE_BASEDIR:-${here%/scripts}} CCACHE_NOHASHDIR=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros # asked for by compiled headers
    # A compiled header knows its sources by their bytes: one that is found by its preprocessed text, where only
    # white space or a comment differs, would read them a second time. So it is found by the files it reads.
    case " $* " in *' c++-header '*) export CCACHE_DEPEND=1 ;; esac
    case "$here" in
      *' '*) ;; # ccache takes a list of words here: such a folder goes without times
      *) export CCACHE_PREFIX=$here/compile.sh ;;
    esac
    exec ccache "$@"
  fi
fi
source=
for word in "$@"; do
  case "$word" in *.cc | *.cxx | *.c) source=$word ;; esac
done
TIMEFORMAT='%U %S'
exec 3>&2
seconds=$({ time "$@" 1>&2 2>&3; exit $?; } 2>&1)
status=$?
[ -z "$source" ] || echo "$seconds $source" >> "$SX_TIMED"
exit $status
