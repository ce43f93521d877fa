#!/bin/sh
# Entry point of the container: runs stithy with the packaged Node as any user id.
set -eu
home=${STITHY_HOME:-/opt/stithy}
# Git and ssh want a home folder, and an arbitrary user id has none.
export HOME="${STITHY_TMP:-/tmp}"
unset STITHY_HOME STITHY_TMP

case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "There is no packaged Node for $(uname -m)." >&2; exit 1 ;;
esac
node=$home/node_modules/node-linux-$arch/bin/node

# The probe of the container engine: exits with 0 while the service is ready.
if [ "${1:-}" = healthcheck ]; then
  exec "$node" -e 'fetch(`http://127.0.0.1:${process.env.STITHY_HTTP_PORT || 8080}/-/readiness`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))'
fi
exec "$node" "$home/bin/stithy.js" "$@"
