#!/bin/sh
# Runs the entry point of the container in an empty, read-only root as an arbitrary user id. Runs as root in a mount namespace of its
# own: unshare --mount --pid --fork --kill-child container-root.sh ROOT INSTALLATION DATA UID WORD…
set -eu
root=$1 installation=$2 data=$3 uid=$4
shift 4
mount --make-rprivate /
mount -t tmpfs -o size=16m root "$root"
for folder in usr opt/stithy proc dev tmp data etc run; do mkdir -p "$root/$folder"; done
for link in bin lib lib64 sbin; do ln -s "usr/$link" "$root/$link"; done
# The system: libraries, shell and git.
mount --bind /usr "$root/usr"
mount -o remount,bind,ro "$root/usr"
for part in bin src node_modules packaging package.json; do
  if [ -d "$installation/$part" ]; then mkdir "$root/opt/stithy/$part"; else : >"$root/opt/stithy/$part"; fi
  mount --bind "$(readlink -f "$installation/$part")" "$root/opt/stithy/$part"
  mount -o remount,bind,ro "$root/opt/stithy/$part"
done
mount --bind "$data" "$root/data"
mount --bind "$data/tmp" "$root/tmp"
mount -t proc proc "$root/proc"
for device in null zero random urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -o remount,ro "$root"
exec chroot --userspec="$uid:$uid" --groups= "$root" /opt/stithy/packaging/container-entry.sh "$@"
