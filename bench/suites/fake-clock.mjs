import { AsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";
import { liveBytes, randomInts, stopwatch } from "../measure.mjs";

const require = createRequire(import.meta.url);
const HOUR = 3_600_000;
const LOOP_LIMIT = 1e9;

const loadFakeClock = async () => (await import("@holdfast/clock/testing")).FakeClock;
const sinonClock = () => require("@sinonjs/fake-timers").createClock(0, LOOP_LIMIT);

async function loadEffect() {
  const { Effect, Fiber } = await import("effect");
  const { TestClock } = await import("effect/testing");
  const run = (effect) => Effect.runPromise(Effect.provide(effect, TestClock.layer()));
  return { Effect, Fiber, TestClock, run };
}

/** Many timers at random instants. `make` returns how to arm one and how to fire them all. */
function firing(count, make) {
  const delays = randomInts(count, HOUR);
  let fired = 0;
  const callback = () => {
    fired++;
  };
  return async () => {
    const { arm, drain } = make(callback);
    fired = 0;
    const lap = stopwatch();
    for (let i = 0; i < count; i++) arm(delays[i]);
    const armed = lap();
    await drain();
    const drained = lap();
    if (fired !== count) throw new Error(`${fired} of ${count} timers fired`);
    return {
      "arm ns": armed / count,
      "fire ns": drained / count,
      "both ns": (armed + drained) / count,
    };
  };
}

const randomTimers = {
  "FakeClock, stepSync": async (count) => {
    const FakeClock = await loadFakeClock();
    return firing(count, (callback) => {
      const clock = new FakeClock();
      return {
        arm: (delay) => clock.afterFunc(delay, callback),
        drain: () => clock.stepSync(HOUR),
      };
    });
  },
  "FakeClock, stepSync, no callbacks": async (count) => {
    const FakeClock = await loadFakeClock();
    return firing(count, (callback) => {
      const clock = new FakeClock();
      return {
        arm: (delay) => clock.newTimer(delay),
        drain: () => {
          clock.stepSync(HOUR);
          for (let i = clock.waiters(); i < count; i++) callback();
        },
      };
    });
  },
  "sinon, tick": (count) =>
    firing(count, (callback) => {
      const clock = sinonClock();
      return { arm: (delay) => clock.setTimeout(callback, delay), drain: () => clock.tick(HOUR) };
    }),
  "sinon, tick, contexts kept by hand": (count) =>
    firing(count, (callback) => {
      const clock = sinonClock();
      const arm = (delay) => {
        const context = new AsyncResource("bench");
        clock.setTimeout(() => context.runInAsyncScope(callback), delay);
      };
      return { arm, drain: () => clock.tick(HOUR) };
    }),
  "rxjs VirtualTimeScheduler, flush": async (count) => {
    const { VirtualTimeScheduler } = await import("rxjs");
    return firing(count, (callback) => {
      const scheduler = new VirtualTimeScheduler();
      return {
        arm: (delay) => scheduler.schedule(callback, delay),
        drain: () => scheduler.flush(),
      };
    });
  },
  "effect TestClock, adjust": async (count) => {
    const { Effect, TestClock, run } = await loadEffect();
    const delays = randomInts(count, HOUR);
    return async () => {
      let fired = 0;
      const lap = stopwatch();
      const woken = Effect.sync(() => {
        fired++;
      });
      await run(
        Effect.scoped(
          Effect.gen(function* () {
            for (const delay of delays)
              yield* Effect.forkScoped(Effect.andThen(Effect.sleep(delay), woken));
            yield* TestClock.adjust(HOUR);
          }),
        ),
      );
      const both = lap();
      if (fired !== count) throw new Error(`${fired} of ${count} sleeps ended`);
      return { "both ns": both / count };
    };
  },
};

/**
 * One function that awaits one sleep after the other. `make` returns a sleep, and how to run such a
 * function while time moves.
 */
function chaining(count, make) {
  return async () => {
    const { sleep, drain } = make();
    const lap = stopwatch();
    await drain(async () => {
      for (let i = 0; i < count; i++) await sleep(10);
    });
    return { "ns/sleep": lap() / count };
  };
}

function chainOnFakeClock(turns) {
  return async (count) => {
    const FakeClock = await loadFakeClock();
    return chaining(count, () => {
      const clock = new FakeClock();
      return {
        sleep: (delay) => clock.sleep(delay),
        drain: (chain) => clock.run(chain, { turns }),
      };
    });
  };
}

function chainOnSinon(move) {
  return (count) =>
    chaining(count, () => {
      const clock = sinonClock();
      return {
        sleep: (delay) => new Promise((resolve) => clock.setTimeout(resolve, delay)),
        drain: async (chain) => {
          const end = chain();
          await move(clock, count);
          await end;
        },
      };
    });
}

const chain = {
  "FakeClock.run, turns: 0": chainOnFakeClock(0),
  "FakeClock.run, turns: 1 (default)": chainOnFakeClock(1),
  "sinon, runAllAsync": chainOnSinon((clock) => clock.runAllAsync()),
  "sinon, tickAsync": chainOnSinon((clock, count) => clock.tickAsync(count * 10)),
  "rxjs VirtualTimeScheduler (actions, no promises)": async (count) => {
    const { VirtualTimeScheduler } = await import("rxjs");
    return chaining(count, () => {
      const scheduler = new VirtualTimeScheduler();
      let left = count;
      return {
        sleep: () => undefined,
        drain: () => {
          scheduler.schedule(function again() {
            if (--left > 0) this.schedule(undefined, 10);
          }, 10);
          scheduler.flush();
          if (left !== 0) throw new Error(`${left} actions left`);
        },
      };
    });
  },
  "effect TestClock, adjust": async (count) => {
    const { Effect, Fiber, TestClock, run } = await loadEffect();
    return async () => {
      const lap = stopwatch();
      await run(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(
            Effect.gen(function* () {
              for (let i = 0; i < count; i++) yield* Effect.sleep(10);
            }),
          );
          for (let i = 0; i < count; i++) yield* TestClock.adjust(10);
          yield* Fiber.join(fiber);
        }),
      );
      return { "ns/sleep": lap() / count };
    };
  },
};

/** A step while many timers are pending and none is due, and what one of them occupies. */
function idling(count, calls, make) {
  const delays = randomInts(count, HOUR);
  const callback = () => {};
  const armed = (many) => {
    const { arm, step } = make();
    for (let i = 0; i < many; i++) arm(HOUR + delays[i], callback);
    return step;
  };
  return () => {
    armed(count / 10)(1); // what is compiled and made once is not a timer's
    const before = liveBytes();
    const step = armed(count);
    const bytes = (liveBytes() - before) / count;
    const lap = stopwatch();
    for (let i = 0; i < calls; i++) step(1);
    return { "ns/step": lap() / calls, "bytes/timer": bytes };
  };
}

const noneDue = {
  "FakeClock, stepSync(1)": async (count) => {
    const FakeClock = await loadFakeClock();
    return idling(count, 200_000, () => {
      const clock = new FakeClock();
      return {
        arm: (delay, callback) => clock.afterFunc(delay, callback),
        step: (duration) => clock.stepSync(duration),
      };
    });
  },
  "FakeClock, the timers are sleeps": async (count) => {
    const FakeClock = await loadFakeClock();
    return idling(count, 200_000, () => {
      const clock = new FakeClock();
      return { arm: (delay) => clock.sleep(delay), step: (duration) => clock.stepSync(duration) };
    });
  },
  "sinon, tick(1)": (count) =>
    idling(count, 20, () => {
      const clock = sinonClock();
      return {
        arm: (delay, callback) => clock.setTimeout(callback, delay),
        step: (duration) => clock.tick(duration),
      };
    }),
};

const sorts = { above: 10_000, because: "sorts at every schedule: minutes" };
const forks = { above: 10_000, because: "too slow to wait for" };

export const fakeClock = {
  id: "c",
  title: "Fake time",
  cases: [
    {
      id: "random",
      title: "timers at random instants: arm all, fire all",
      sizes: [1_000, 10_000, 100_000],
      quickSizes: [1_000],
      samples: 5,
      milliseconds: 400,
      unit: "timers",
      skip: { "rxjs VirtualTimeScheduler, flush": sorts, "effect TestClock, adjust": forks },
      contenders: randomTimers,
    },
    {
      id: "chain",
      title: "a chain of awaited sleeps",
      sizes: [20_000],
      quickSizes: [2_000],
      samples: 5,
      milliseconds: 400,
      unit: "sleeps",
      contenders: chain,
    },
    {
      id: "idle",
      title: "a step with timers pending and none due",
      sizes: [100_000],
      quickSizes: [10_000],
      samples: 1,
      milliseconds: 0,
      unit: "pending timers",
      contenders: noneDue,
    },
  ],
};
