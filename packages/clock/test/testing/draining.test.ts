import { EventEmitter, once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { timelineOf } from "../../../../test/timeline.ts";

const hop = async (): Promise<void> => {};

/** Answers two microtasks late, and only through `then`. */
function lateThenable(): PromiseLike<void> {
  const later = (resolve: () => void) => queueMicrotask(() => queueMicrotask(resolve));
  // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
  return { then: later } as unknown as PromiseLike<void>;
}

/** Work that promises and `nextTick` can do by themselves, however long it takes them. */
const closed: Record<string, () => unknown> = {
  "5000 awaits in a row": async () => {
    for (let index = 0; index < 5000; index++) await hop();
  },
  "1000 async calls deep": async () => {
    const descend = async (depth: number): Promise<void> => {
      if (depth > 0) await descend(depth - 1);
    };
    await descend(1000);
  },
  "async functions that return promises": async () => {
    const wrap = async (depth: number): Promise<void> => (depth === 0 ? hop() : wrap(depth - 1));
    for (let index = 0; index < 100; index++) await wrap(5);
  },
  "thenables that answer late": async () => {
    for (let index = 0; index < 100; index++) {
      await lateThenable();
    }
  },
  "queueMicrotask that queues itself": () =>
    new Promise<void>((resolve) => {
      let left = 1000;
      const again = (): void => (--left === 0 ? resolve() : queueMicrotask(again));
      again();
    }),
  "nextTick that queues itself": () =>
    new Promise<void>((resolve) => {
      let left = 1000;
      const again = (): void => {
        if (--left === 0) resolve();
        else process.nextTick(again);
      };
      again();
    }),
  "nextTick and promises in turns": async () => {
    for (let index = 0; index < 50; index++) {
      await new Promise<void>((resolve) => process.nextTick(resolve));
      await hop();
    }
  },
  "Promise.all, race and allSettled of many": async () => {
    const many = () => Array.from({ length: 100 }, hop);
    await Promise.all(many());
    await Promise.race(many());
    await Promise.allSettled(many());
  },
  "an async generator": async () => {
    async function* count(): AsyncGenerator<number> {
      for (let index = 0; index < 200; index++) yield index;
    }
    for await (const _ of count());
  },
  "the iteration of a Readable": async () => {
    for await (const _ of Readable.from(Array.from({ length: 50 }, String)));
  },
  "stream.pipeline": () =>
    pipeline(
      Readable.from(["a", "b", "c"]),
      new PassThrough(),
      async function* (source) {
        yield* source;
      },
      new PassThrough().resume(),
    ),
  "web streams": async () => {
    const source = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 20; index++) controller.enqueue(index);
        controller.close();
      },
    });
    for await (const _ of source.pipeThrough(new TransformStream()));
  },
  "the text of a Response": () => new Response("body").text(),
  "an event": async () => {
    const emitter = new EventEmitter();
    process.nextTick(() => emitter.emit("event"));
    await once(emitter, "event");
    const target = new EventTarget();
    queueMicrotask(() => target.dispatchEvent(new Event("event")));
    await once(target, "event");
  },
  "an abort": async () => {
    const stop = new AbortController();
    const aborted = once(stop.signal, "abort");
    queueMicrotask(() => stop.abort());
    await aborted;
  },
};

/** Work that is already queued in the event loop. */
const queued: Record<string, () => unknown> = {
  "an immediate": () => new Promise<void>((resolve) => setImmediate(resolve)),
  "an immediate after an await": async () => {
    await hop();
    await new Promise<void>((resolve) => setImmediate(resolve));
    await hop();
  },
  "a message": async () => {
    const { port1, port2 } = new MessageChannel();
    port2.postMessage("hello");
    await once(port1, "message");
    port1.close();
  },
  "an immediate that a message queues": async () => {
    const { port1, port2 } = new MessageChannel();
    port2.postMessage("hello");
    await once(port1, "message");
    await new Promise<void>((resolve) => setImmediate(resolve));
    port1.close();
  },
  "a message that an immediate posts": async () => {
    const { port1, port2 } = new MessageChannel();
    setImmediate(() => port2.postMessage("hello"));
    await once(port1, "message");
    port1.close();
  },
};

async function orderOf(work: () => unknown, turns: number): Promise<unknown[]> {
  const clock = new FakeClock();
  const { events, note } = timelineOf(clock);
  const finish = async (): Promise<void> => {
    await work();
    note("done");
  };
  await clock.run(
    async () => {
      const first = finish();
      await clock.sleep(1);
      const between = finish();
      await clock.sleep(1);
      note("time moved");
      await Promise.all([first, between]);
    },
    { turns },
  );
  return events;
}

const expected = [
  [0, "done"],
  [1, "done"],
  [2, "time moved"],
];

describe("before time moves", () => {
  const scenarios = Object.entries(closed).map(([name, work]) => ({ name, work }));

  it.each(scenarios)("$name ends, in bursts too", async ({ work }) => {
    expect(await orderOf(work, 0)).toEqual(expected);
    expect(await orderOf(work, 1)).toEqual(expected);
    expect(await orderOf(work, 2)).toEqual(expected);
  });

  it.each(Object.entries(queued).map(([name, work]) => ({ name, work })))(
    "queued $name is served when turns are granted",
    async ({ work }) => {
      for (let round = 0; round < 20; round++) {
        expect(await orderOf(work, 1)).toEqual(expected);
        expect(await orderOf(work, 2)).toEqual(expected);
      }
    },
  );

  it("queued work runs when a timer wakes a run that had nothing to fire", async () => {
    const clock = new FakeClock();
    const { events, note } = timelineOf(clock);
    const wake = (resolve: () => void): void => {
      void clock.sleep(1).then(() => {
        note("time moved");
        resolve();
      });
      setImmediate(() => note("done"));
    };
    const woken = (async () => {
      // By then the run has looked and has nothing to do, however busy the machine is.
      for (let turns = 0; turns < 10; turns++)
        await new Promise((resolve) => setImmediate(resolve));
      await new Promise<void>((resolve) => setTimeout(wake, 1, resolve));
    })();
    await clock.run(() => woken);
    expect(events).toEqual([
      [0, "done"],
      [1, "time moved"],
    ]);
  });

  it.each([1, 2, 5])("a chain of %i immediates ends when as many turns are granted", async (n) => {
    const chain = async (): Promise<void> => {
      for (let index = 0; index < n; index++)
        await new Promise<void>((resolve) => setImmediate(resolve));
    };
    expect(await orderOf(chain, n)).toEqual(expected);
  });

  it.each([1, 2, 5])(
    "no more than %i turns pass, also if timers are armed in them",
    async (turns) => {
      const clock = new FakeClock();
      let passed = 0;
      let state: "spinning" | "done" = "spinning";
      const spin = (): void => {
        if (state === "done" || passed === 100) return;
        passed++;
        clock.newTimer(1_000).stop();
        setImmediate(spin);
      };
      await clock.run(
        async () => {
          setImmediate(spin);
          await clock.sleep(1);
          state = "done";
        },
        { turns },
      );
      expect(passed).toBe(turns);
    },
  );

  it("no turn passes between timers of one instant", async () => {
    const clock = new FakeClock();
    const { events, note } = timelineOf(clock);
    void clock.sleep(1).then(() => {
      note("first");
      setImmediate(() => note("immediate"));
    });
    void clock.sleep(1).then(() => note("second"));
    await clock.step(1);
    expect(events).toEqual([
      [1, "first"],
      [1, "second"],
      [1, "immediate"],
    ]);
  });

  it("no turn passes in a burst", async () => {
    const clock = new FakeClock();
    const { events, note } = timelineOf(clock);
    const burst = clock.run(
      async () => {
        for (let times = 0; times < 10; times++) await clock.sleep(1);
        note("slept");
      },
      { turns: 0 },
    );
    setImmediate(() => note("immediate"));
    await burst;
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(events).toEqual([
      [10, "slept"],
      [10, "immediate"],
    ]);
  });
});
