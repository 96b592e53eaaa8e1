import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type KeyShards,
  resync,
  type SlotLeadership,
  type Source,
  silentLogger,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

/** Slots that the test begins. The slot of a key is its number. */
class Slots implements KeyShards {
  #lead: ((leadership: SlotLeadership) => unknown) | undefined;

  slotOf(key: string): number {
    return Number(key);
  }

  join(lead: (leadership: SlotLeadership) => unknown): Disposable {
    this.#lead = lead;
    return { [Symbol.dispose]: () => {} };
  }

  begin(slot: number): void {
    const { signal } = new AbortController();
    void this.#lead?.({ slot, token: 0, signal, lost: signal, isHeld: true });
  }
}

const KEYS = Array.from({ length: 100 }, (_, index) => `${index}`);
const HOUR = 3_600_000;

let clock: FakeClock;
let start: number;
let slots: Slots;
let stop: AbortController;
/** When lists began. */
let lists: number[];
/** When each key was reconciled. */
let reconciled: { readonly at: number; readonly key: number }[];

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  slots = new Slots();
  stop = new AbortController();
  lists = [];
  reconciled = [];
});

const now = (): number => clock.monotonic() - start;

function run(source: Source, shards: KeyShards | undefined = slots): Promise<void> {
  const controller = new Controller({
    ...{ name: "keys", workers: 100, sources: [source], clock, random: () => 0 },
    logger: silentLogger,
    reconcile: ({ key }) => void reconciled.push({ at: now(), key: Number(key) }),
  });
  return controller.run(stop.signal, { shards });
}

/** The keys that were reconciled, by the instant. */
function history(): Record<number, readonly number[]> {
  const history: Record<number, readonly number[]> = {};
  for (const { at, key } of reconciled.toSorted((a, b) => a.key - b.key))
    history[at] = [...(history[at] ?? []), key];
  return history;
}

async function end(running: Promise<void>): Promise<void> {
  stop.abort();
  await running;
  expect(clock.waiters()).toBe(0);
  expect(abortListeners(stop.signal)).toBe(0);
}

/** A list that takes 50 ms. */
async function listed(): Promise<readonly string[]> {
  lists.push(now());
  await clock.sleep(50);
  return KEYS;
}

/** Begins a slot, then time passes. */
async function beginEach(from: number, to: number, every: number): Promise<void> {
  for (let slot = from; slot < to; slot++) {
    slots.begin(slot);
    await clock.step(every);
  }
}

describe("slots that come one by one", () => {
  it("share lists that begin after them, the further apart the longer slots keep coming", async () => {
    const running = run(resync({ list: listed, interval: HOUR }));
    await clock.step(1_000);
    await beginEach(0, 20, 4_000);
    await clock.step(60_000);
    expect(lists).toEqual([0, 1_000, 5_000, 9_000, 13_000, 21_000, 37_000, 67_000, 97_000]);
    expect(history()).toEqual({
      1050: [0],
      5050: [1],
      9050: [2],
      13050: [3],
      21050: [4],
      37050: [5, 6, 7, 8],
      67050: [9, 10, 11, 12, 13, 14, 15, 16],
      97050: [17, 18, 19],
    });
    await end(running);
  });

  it("are listed at once again after a while without any", async () => {
    const running = run(resync({ list: listed, interval: HOUR }));
    await beginEach(0, 4, 1_000);
    await clock.step(60_000);
    await beginEach(4, 6, 1_000);
    await clock.step(1_000);
    expect(lists).toEqual([0, 0, 1_000, 3_000, 7_000, 64_000, 65_000]);
    await end(running);
  });

  it("are told at once by a source that has all in memory", async () => {
    const running = run({
      name: "memory",
      start: ({ enqueue }) => {
        lists.push(now());
        for (const key of KEYS) enqueue(key);
      },
    });
    await beginEach(0, 5, 100);
    expect(history()).toEqual({ 0: [0], 100: [1], 200: [2], 300: [3], 400: [4] });
    await end(running);
  });

  it("begin no list after the abort, and leave no timer", async () => {
    const running = run(resync({ list: listed, interval: HOUR }));
    await beginEach(0, 2, 400);
    expect(lists).toEqual([0, 0]);
    await end(running);
    await clock.step(60_000);
    expect(lists).toEqual([0, 0]);
  });

  it("leave one start of a source that fails as a slot comes", async () => {
    for (let microtasks = 0; microtasks < 20; microtasks++) {
      const signals: AbortSignal[] = [];
      const source: Source = {
        name: "broken",
        async start(_, signal) {
          if (signals.push(signal) === 1) {
            await clock.sleep(100);
            void after(microtasks).then(() => slots.begin(3));
            throw new Error("broken");
          }
          await clock.sleep(HOUR, { signal });
        },
      };
      const running = run(source);
      await clock.step(3_000);
      expect([microtasks, signals.filter(({ aborted }) => !aborted).length]).toEqual([
        microtasks,
        1,
      ]);
      await end(running);
      stop = new AbortController();
    }
  });
});

async function after(microtasks: number): Promise<void> {
  for (let left = microtasks; left > 0; left--) await undefined;
}

describe("a list that fails when a slot comes", () => {
  const error = new Error("no list");
  const forms: Record<string, (fail: () => void) => Parameters<typeof resync>[0]["list"]> = {
    "throws at once": (fail) => () => {
      fail();
      return KEYS;
    },
    rejects: (fail) => async () => {
      fail();
      return KEYS;
    },
    "fails in the middle of its pages": (fail) =>
      async function* () {
        yield* KEYS.slice(10);
        fail();
        yield* KEYS.slice(0, 10);
      },
  };

  it.each(Object.entries(forms))(
    "%s, is tried again, and tells the keys of the slot alone",
    async (_, form) => {
      const list = form(() => {
        lists.push(now());
        if (now() > 0 && now() < 140_000) throw error;
      });
      const running = run(resync({ list: list as never, interval: HOUR }));
      slots.begin(0);
      await clock.step(10_000);
      slots.begin(1);
      await clock.step(200_000);
      const after = lists.slice(2).map((at) => at - 10_000);
      expect(after).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151].map((s) => s * 1_000));
      expect(history()).toEqual({ 0: [0], 161000: [1] });
      await end(running);
    },
  );

  it.each([
    ["rejects", Promise.reject.bind(Promise)],
    [
      "throws",
      (error: Error): never => {
        throw error;
      },
    ],
  ])(
    "of a source whose start %s is tried again beside the start for the other slots",
    async (_, fail) => {
      const running = run({
        name: "watch",
        start({ enqueue }, signal) {
          lists.push(now());
          if (now() > 0 && now() < 140_000) return fail(error);
          for (const key of KEYS) enqueue(key);
          return clock.sleep(150_000, { signal }).then(() => enqueue("0", { reason: "changed" }));
        },
      });
      slots.begin(0);
      await clock.step(10_000);
      slots.begin(1);
      await clock.step(200_000);
      expect(lists).toEqual([
        0, 0, 10_000, 12_000, 16_000, 24_000, 40_000, 70_000, 100_000, 130_000, 160_000,
      ]);
      expect(history()).toEqual({ 0: [0], 150000: [0], 160000: [1] });
      await end(running);
    },
  );
});
