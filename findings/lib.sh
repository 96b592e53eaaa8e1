# Sourced by every script of this folder: installs packages into a temporary folder, runs a program there, compares
# what it prints with what was seen. See README.md.
set -eu
here=$(mktemp -d "${TMPDIR:-/tmp}/finding.XXXXXX")
cleanup=()
finish() {
  local code=$?
  for command in "${cleanup[@]}"; do eval "$command" >/dev/null 2>&1 || true; done
  rm -rf "$here"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM
cd "$here"
export NO_COLOR=1 FORCE_COLOR=0
node=node

# needs PROGRAM...: exits 77 if one is not on this machine.
needs() {
  local program
  for program; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
  done
}

# packages NAME@VERSION...: installs them from the npm registry.
packages() {
  echo '{"private":true,"type":"module"}' >package.json
  npm install --no-audit --no-fund --save-exact --loglevel=error "$@" >npm.log 2>&1 || { cat npm.log; exit 1; }
}

# node_of VERSION: the program below runs on that Node.
node_of() {
  mkdir -p node-of && (cd node-of && echo '{"private":true}' >package.json &&
    npm install --no-audit --no-fund --save-exact --loglevel=error "node@$1" >npm.log 2>&1 || { cat npm.log; exit 1; })
  node=$here/node-of/node_modules/node/bin/node
  export PATH=${node%/node}:$PATH
}

# observe: runs the program on stdin with node, shows what it prints and keeps it.
observe() {
  cat >program.mjs
  "$node" "$@" program.mjs >seen.txt 2>errors.txt || echo "exit code $?" >>seen.txt
  cat seen.txt
}

# expect: fails if the last program printed anything but stdin.
expect() {
  cat >expected.txt
  if diff -u expected.txt seen.txt >difference.txt; then return; fi
  echo "CHANGED:" && cat difference.txt errors.txt
  exit 1
}

# free_port: prints a free port of the loopback interface.
free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}
