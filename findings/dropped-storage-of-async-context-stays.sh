#!/usr/bin/env bash
# Package: node:async_hooks of Node 20.20.2, 24.21.0 and 26.10.0
# Guess: an AsyncLocalStorage that nobody holds is collected when its run() has returned, on each Node.
# Seen: Node 20 keeps each storage whose run() was ever called, for the life of the process, and each promise pays for all of
# them. Node 24 and 26 keep it as long as the async context that called run(): the context has it with the value undefined.
# After disable() it goes, on each. One storage for all instances of a class, with the instance as its value, has neither.
. "$(dirname "$0")/lib.sh"
cat >kept.mjs <<'JS'
import { AsyncLocalStorage } from "node:async_hooks";

const COUNT = 100;
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
const collect = async () => {
  for (let round = 0; round < 3; round++) {
    await pause();
    globalThis.gc();
  }
};
const inItsOwnContext = (work) => new Promise((resolve) => setTimeout(() => resolve(work()), 1));
const make = (use) =>
  Array.from({ length: COUNT }, () => {
    const storage = new AsyncLocalStorage();
    use(storage);
    return new WeakRef(storage);
  });
const ways = {
  "constructed": () => make(() => {}),
  "run in another context": () => inItsOwnContext(() => make((storage) => storage.run({}, () => {}))),
  "run and disabled": () => make((storage) => {
    storage.run({}, () => {});
    storage.disable();
  }),
  "run here": () => make((storage) => storage.run({}, () => {})),
};
for (const [way, begin] of Object.entries(ways)) {
  const refs = await begin();
  await collect();
  const kept = refs.filter((ref) => ref.deref() !== undefined).length;
  // The latest one may still be in a register.
  const said = kept >= COUNT - 1 ? "all are kept" : kept <= 1 ? "none is kept" : `${kept} are kept`;
  console.log(`Node ${process.versions.node.split(".")[0]}, ${way}: ${said}`);
}
JS
for version in 20.20.2 24.21.0 26.10.0; do
  rm -rf node-of && node_of "$version"
  "$node" --expose-gc kept.mjs
done >seen.txt
cat seen.txt && : >errors.txt
expect <<'TEXT'
Node 20, constructed: none is kept
Node 20, run in another context: all are kept
Node 20, run and disabled: none is kept
Node 20, run here: all are kept
Node 24, constructed: none is kept
Node 24, run in another context: none is kept
Node 24, run and disabled: none is kept
Node 24, run here: all are kept
Node 26, constructed: none is kept
Node 26, run in another context: none is kept
Node 26, run and disabled: none is kept
Node 26, run here: all are kept
TEXT
