#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the README's two commands from a fresh clone in a bare Debian 12, and again to see that the second run is quick.
# Needs root and debootstrap. Package sources, proxies and certificates are those of this machine.
# usage: scripts/bare_debian.sh [FOLDER] [COMMAND ...]   (default: a temporary folder; make demo, make test, twice)
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ "$(id -u)" -eq 0 ] || { echo "bare_debian: must be root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "bare_debian: debootstrap is missing" >&2; exit 1; }
folder=${1:-$(mktemp -d)}
[ "$#" -eq 0 ] || shift
commands=("$@")
[ "${#commands[@]}" -gt 0 ] || commands=("make demo" "make test" "make demo" "make test")
root=$folder/debian
mkdir -p "$root"

# The archive that this machine installs its own packages from.
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
  awk '$2 == "bookworm" {print $1; exit}')
[ -n "$mirror" ] || { echo "bare_debian: this machine's apt knows no bookworm archive" >&2; exit 1; }

if [ ! -x "$root/usr/bin/make" ]; then
  debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" "$mirror" >"$folder/debootstrap.log"
fi
mkdir -p "$root/etc/apt/apt.conf.d" "$root/etc/ssl/certs" "$root/usr/local/share/ca-certificates"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
for file in /etc/pip.conf /etc/apt/apt.conf; do
  [ ! -f "$file" ] || cp "$file" "$root$file"
done
cp /etc/apt/apt.conf.d/*prox* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
rm -rf "$root/root/clone"
git clone -q "$repository" "$root/root/clone"

environment=(HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin)
while IFS='=' read -r name value; do
  case "$name" in
    *_proxy | *_PROXY | PIP_INDEX_URL | PIP_CERT | PIP_DEFAULT_TIMEOUT | PIP_TRUSTED_HOST | SSL_CERT_FILE) environment+=("$name=$value") ;;
  esac
done < <(env)

report=()
for command in "${commands[@]}"; do
  start=$SECONDS status=0
  # Mounts in a namespace of their own: they end with the command.
  unshare --mount bash -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "${@}"' \
    "$root" env -i "${environment[@]}" bash -c "cd /root/clone && $command" || status=$?
  report+=("$(printf '%-12s %5d s  status %d' "$command" "$((SECONDS - start))" "$status")")
done
printf '%s\n' "${report[@]}"
[[ "${report[*]}" != *"status "[1-9]* ]]
