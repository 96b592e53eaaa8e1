import { createRequire } from "node:module";
import { stopwatch } from "../measure.mjs";

const require = createRequire(import.meta.url);

/** A sample: `count` turns of `backoffUntil` with no delay between them. */
function looping(count, clockAndDrive) {
  return async () => {
    const { Backoff, backoffUntil } = await import("@holdfast/wait");
    const { backoffManager } = await import("@holdfast/wait/loop");
    const { clock, drive } = clockAndDrive();
    const stop = new AbortController();
    let turns = 0;
    const turn = () => {
      if (++turns === count) stop.abort();
    };
    const began = performance.now();
    const lap = stopwatch();
    await drive(() =>
      backoffUntil(
        turn,
        backoffManager(new Backoff({ duration: 0 }), { clock }),
        true,
        stop.signal,
      ),
    );
    const spent = lap();
    const wall = (performance.now() - began) * 1e6;
    if (turns !== count) throw new Error(`${turns} of ${count} turns`);
    return { "cpu ns/turn": spent / count, "wall ns/turn": wall / count };
  };
}

function onFakeClock(turns) {
  return async (count) => {
    const { FakeClock } = await import("@holdfast/clock/testing");
    return looping(count, () => {
      const clock = new FakeClock();
      return { clock, drive: (work) => clock.run(work, { turns }) };
    });
  };
}

export const loops = {
  id: "d",
  title: "backoffUntil without delay, one turn",
  cases: [
    {
      id: "turns",
      title: "on each clock (the host's timers last at least 1 ms)",
      sizes: [5_000],
      quickSizes: [500],
      samples: 5,
      milliseconds: 300,
      unit: "turns",
      contenders: {
        "FakeClock.run, turns: 0": onFakeClock(0),
        "FakeClock.run, turns: 1 (default)": onFakeClock(1),
        "realClock over sinon, runAllAsync": async (count) => {
          const { install } = require("@sinonjs/fake-timers");
          const { realClock: clock } = await import("@holdfast/clock");
          const toNotFake = ["nextTick", "queueMicrotask", "setImmediate", "clearImmediate"];
          return looping(count, () => ({
            clock,
            drive: async (work) => {
              const fake = install({ toNotFake, loopLimit: 1e9 });
              try {
                const end = work();
                await fake.runAllAsync();
                await end;
              } finally {
                fake.uninstall();
              }
            },
          }));
        },
        realClock: async (count) => {
          const { realClock: clock } = await import("@holdfast/clock");
          return looping(Math.min(count, 250), () => ({ clock, drive: (work) => work() }));
        },
      },
    },
  ],
};
