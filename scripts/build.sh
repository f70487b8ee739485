#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The release build with all cores; with folders as arguments only what those need.
# Then build/sardonyx is the program, and .venv imports the module from build/python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ ! -f build/release/build.ninja ] || [ CMakePresets.json -nt build/release/build.ninja ]; then
  cmake --preset release -DSX_PYTHON=ON -DPython_EXECUTABLE="$PWD/.venv/bin/python"
fi
targets=()
for folder in "$@"; do
  [ ! -f "$folder/CMakeLists.txt" ] || targets+=("$folder/all")
done
ninja -C build/release --quiet "${targets[@]}"

ln -sfn release/tools/sardonyx build/sardonyx
ln -sfn release/python build/python
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/build/python" | cmp -s - "$site/sardonyx.pth" || echo "$PWD/build/python" > "$site/sardonyx.pth"
