#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing for one of: base (build and demo), test, check. Debian 12, Ubuntu 24.04 or later.
# Says nothing and needs neither root nor network when all of it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

want=${1:-base}
base_packages=(g++ cmake ninja-build ccache python3 python3-venv python3-dev
  libfmt-dev doctest-dev libdeflate-dev libzstd-dev libxxhash-dev libsimdjson-dev
  libre2-dev libutf8proc-dev)
test_packages=(fish groff-base zsh)  # completions and the manual are tried where they are used
check_packages=(clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev lld-14 qemu-user-static)
case "$want" in
  base) packages=("${base_packages[@]}") ;;
  test) packages=("${base_packages[@]}" "${test_packages[@]}") ;;
  check) packages=("${base_packages[@]}" "${test_packages[@]}" "${check_packages[@]}") ;;
  *) echo "usage: scripts/setup.sh base|test|check" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; these Debian packages are needed: ${packages[*]}" >&2
else
  missing=()
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
  done
  if [ "${#missing[@]}" -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    root=()
    if [ "$(id -u)" -ne 0 ]; then
      command -v sudo >/dev/null || { echo "setup: run as root, or install sudo, to add: ${missing[*]}" >&2; exit 1; }
      root=(sudo)
    fi
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
  fi
fi

# The virtual environment. A stamp inside it holds the pinned lists it was last filled from.
lists=(requirements/base.txt)
[ "$want" = base ] || lists+=(requirements/test.txt)
[ "$want" != check ] || lists+=(requirements/check.txt)
stamp=.venv/stamp-$want
if [ -x .venv/bin/python ] && cat "${lists[@]}" | cmp -s - "$stamp"; then
  exit 0
fi
if ! .venv/bin/python -c '' 2>/dev/null; then
  echo "setup: making .venv"
  rm -rf .venv
  "${PYTHON:-python3}" -m venv .venv
fi
echo "setup: installing requirements/$want.txt into .venv"
.venv/bin/python -m pip install -q --disable-pip-version-check -r "requirements/$want.txt"
cat "${lists[@]}" > "$stamp"
