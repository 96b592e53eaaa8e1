#!/usr/bin/env bash
# Package: temporal-polyfill 1.0.8, @sinonjs/fake-timers 15.5.0, Node 24.21.0 and 26.10.0
# Guess: the `Temporal` of the polyfill follows the fake clock, as sinon fakes both Date and Temporal.
# Seen: on Node 24 it does. Node 26 has a Temporal of its own, which the polyfill hands out: sinon replaces the global one,
# not the one that was imported, and a program has two times.
. "$(dirname "$0")/lib.sh"
packages temporal-polyfill@1.0.8 @sinonjs/fake-timers@15.5.0
cat >times.mjs <<'JS'
import FakeTimers from "@sinonjs/fake-timers";
import { Temporal } from "temporal-polyfill";

FakeTimers.install({ now: 0 });
const node = `Node ${process.versions.node.split(".")[0]}`;
const isFake = Temporal.Now.instant().epochMilliseconds === 0;
console.log(`${node}: Date ${new Date().getFullYear()}, polyfill ${isFake ? 1970 : "today"}`);
if (globalThis.Temporal) console.log(`${node}: global Temporal ${globalThis.Temporal.Now.instant().epochMilliseconds === 0 ? 1970 : "today"}`);
JS
for version in 24.21.0 26.10.0; do
  rm -rf node-of && node_of "$version"
  "$node" times.mjs
done >seen.txt
cat seen.txt && : >errors.txt
expect <<'TEXT'
Node 24: Date 1970, polyfill 1970
Node 26: Date 1970, polyfill today
Node 26: global Temporal 1970
TEXT
