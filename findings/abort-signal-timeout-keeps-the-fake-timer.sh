#!/usr/bin/env bash
# Package: @sinonjs/fake-timers 15.5.0, Node 20.20.2 and 26.10.0
# Guess: AbortSignal.timeout is real under the fakes, as the library does not name it, and after uninstall() in any case.
# Seen: it keeps the timers that were there when Node first needed AbortSignal. If that is while the fakes are installed, it
# follows them, and after uninstall() no timeout of the process ever comes. An import of node:http, or a mention of
# AbortController, is an earlier need: so one import decides whether a test moves AbortSignal.timeout.
. "$(dirname "$0")/lib.sh"
packages @sinonjs/fake-timers@15.5.0
cat >first.mjs <<'JS'
import FakeTimers from "@sinonjs/fake-timers";

const kept = setTimeout;
const [before] = process.argv.slice(2);
if (before === "AbortController") void AbortController;
if (before === "node:http") await import("node:http");
const fake = FakeTimers.install();
const during = AbortSignal.timeout(60_000);
await fake.tickAsync(60_000);
fake.uninstall();
const after = AbortSignal.timeout(50);
await new Promise((resolve) => kept(resolve, 1_000));
const node = `Node ${process.versions.node.split(".")[0]}`;
console.log(`${node}, ${before} before: follows the fakes ${during.aborted}; after uninstall, 50 ms come ${after.aborted}`);
JS
for version in 20.20.2 26.10.0; do
  rm -rf node-of && node_of "$version"
  for before in nothing AbortController node:http; do "$node" first.mjs "$before"; done
done >seen.txt
cat seen.txt && : >errors.txt
expect <<'TEXT'
Node 20, nothing before: follows the fakes true; after uninstall, 50 ms come false
Node 20, AbortController before: follows the fakes false; after uninstall, 50 ms come true
Node 20, node:http before: follows the fakes false; after uninstall, 50 ms come true
Node 26, nothing before: follows the fakes true; after uninstall, 50 ms come false
Node 26, AbortController before: follows the fakes false; after uninstall, 50 ms come true
Node 26, node:http before: follows the fakes false; after uninstall, 50 ms come true
TEXT
