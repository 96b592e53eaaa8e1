#!/usr/bin/env bash
# Package: Node 20.20.2 and 24.21.0
# Guess: `AbortSignal.any([AbortSignal.timeout(200)])` aborts after 200 ms, as long as the signal that it returns is used.
# Seen: on Node 20 nothing keeps the inner signal: after a garbage collection the timeout never comes, although the outer
# signal is held and has a listener. On Node 24 it comes.
. "$(dirname "$0")/lib.sh"
packages
cat >program.mjs <<'JS'
import { sleep } from "./kit.mjs";

const signal = AbortSignal.any([AbortSignal.timeout(200)]);
let heard = false;
signal.addEventListener("abort", () => (heard = true));
for (let i = 0; i < 5; i++) {
  await sleep(20);
  globalThis.gc();
}
await sleep(500);
console.log(`Node ${process.versions.node.split(".")[0]}: aborted ${signal.aborted}, listener called ${heard}`);
JS
for version in 20.20.2 24.21.0; do
  rm -rf node-of && node_of "$version"
  "$node" --expose-gc program.mjs
done >seen.txt
cat seen.txt && : >errors.txt
expect <<'TEXT'
Node 20: aborted false, listener called false
Node 24: aborted true, listener called true
TEXT
