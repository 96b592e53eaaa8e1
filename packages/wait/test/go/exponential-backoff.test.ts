import type { BackoffOptions } from "@holdfast/wait";
import {
  type Condition,
  type ExponentialBackoffOptions,
  exponentialBackoff,
} from "@holdfast/wait/go";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Timeline } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { stageOn } from "../stage.ts";

const exhaustedAfter = (attempts: number) => [
  "rejected",
  expect.objectContaining({ code: "ERR_WAIT_EXHAUSTED", attempts }) as unknown,
];

describe.each(Object.entries(harnesses))("on %s", (_on, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;

  beforeEach(() => {
    ({ harness, stop, timeline } = stageOn(open));
  });

  const start = (
    condition: Condition,
    backoff: BackoffOptions,
    options?: Partial<ExponentialBackoffOptions>,
  ) => {
    const noted: Condition = (signal) => {
      timeline.note("call");
      return condition(signal);
    };
    const { clock } = harness;
    return timeline.noteEnd(
      exponentialBackoff(noted, { backoff, clock, signal: stop.signal, ...options }),
    );
  };

  /** True at its n-th call. */
  const trueAt = (n: number) => {
    let calls = 0;
    return () => ++calls === n;
  };

  const failure = new Error("E");
  const never = () => false;
  const fails = () => {
    throw failure;
  };

  interface Case {
    readonly name: string;
    readonly backoff: BackoffOptions;
    readonly condition: () => () => boolean;
    readonly calledAt: readonly number[];
    readonly end: readonly [at: number, event: unknown];
  }

  it.each<Case>([
    {
      name: "never with steps of 0",
      backoff: { duration: 1, steps: 0 },
      condition: () => never,
      calledAt: [],
      end: [0, exhaustedAfter(0)],
    },
    {
      name: "once with steps of 1",
      backoff: { duration: 1, steps: 1 },
      condition: () => never,
      calledAt: [0],
      end: [0, exhaustedAfter(1)],
    },
    {
      name: "once if the condition is true",
      backoff: { duration: 1, steps: 1 },
      condition: () => trueAt(1),
      calledAt: [0],
      end: [0, "resolved"],
    },
    {
      name: "steps times",
      backoff: { duration: 100, factor: 1, steps: 3 },
      condition: () => never,
      calledAt: [0, 100, 200],
      end: [200, exhaustedAfter(3)],
    },
    {
      name: "until the condition is true",
      backoff: { duration: 100, factor: 2, steps: 5 },
      condition: () => trueAt(3),
      calledAt: [0, 100, 300],
      end: [300, "resolved"],
    },
    {
      name: "and resolves if the last call returns true",
      backoff: { duration: 100, factor: 2, steps: 3 },
      condition: () => trueAt(3),
      calledAt: [0, 100, 300],
      end: [300, "resolved"],
    },
    {
      name: "until the condition fails",
      backoff: { duration: 100, steps: 5 },
      condition: () => fails,
      calledAt: [0],
      end: [0, ["rejected", failure]],
    },
    {
      name: "until the cap, which ends the attempts after a useless delay",
      backoff: { duration: 1000, factor: 2, cap: 3000, steps: 10 },
      condition: () => never,
      calledAt: [0, 1000],
      end: [3000, exhaustedAfter(2)],
    },
    {
      name: "once if the cap is below the first delay",
      backoff: { duration: 1000, factor: 2, cap: 500, steps: 10 },
      condition: () => never,
      calledAt: [0],
      end: [1000, exhaustedAfter(1)],
    },
    {
      name: "beyond a cap that a delay equals",
      backoff: { duration: 1000, factor: 2, cap: 4000, steps: 3 },
      condition: () => never,
      calledAt: [0, 1000, 3000],
      end: [3000, exhaustedAfter(3)],
    },
    {
      name: "without jitter on its last call",
      backoff: { duration: 100, jitter: 0.5, steps: 3, random: () => 0.5 },
      condition: () => never,
      calledAt: [0, 125, 250],
      end: [250, exhaustedAfter(3)],
    },
  ])("calls $name", async ({ backoff, condition, calledAt, end }) => {
    const ended = start(condition(), backoff);
    await harness.step(10_000);
    await ended;
    expect(timeline.events).toEqual([...calledAt.map((at) => [at, "call"]), end]);
  });

  it("calls without delays if the duration is 0", async () => {
    const ended = start(trueAt(3), { duration: 0, steps: 5 });
    await harness.step(10);
    await ended;
    expect(timeline.events.map(([, event]) => event)).toEqual(["call", "call", "call", "resolved"]);
  });

  it("never ends without steps and cap", async () => {
    const ended = start(trueAt(50), { duration: 100 });
    await harness.step(4900);
    await ended;
    expect(timeline.events.at(-1)).toEqual([4900, "resolved"]);
  });

  it("rejects with signal.reason without a call if already aborted", async () => {
    stop.abort("gone");
    await start(never, { duration: 100, steps: 5 });
    expect(timeline.events).toEqual([[0, ["rejected", "gone"]]]);
  });

  it("rejects with an ExhaustedError with steps of 0, aborted or not", async () => {
    stop.abort("gone");
    await start(never, { duration: 100, steps: 0 });
    expect(timeline.events).toEqual([[0, exhaustedAfter(0)]]);
  });

  it("rejects with signal.reason at once when aborted during a delay", async () => {
    const reason = new Error("SIGTERM");
    const ended = start(never, { duration: 1000, steps: 5 });
    await harness.step(500);
    stop.abort(reason);
    await ended;
    expect(timeline.events).toEqual([
      [0, "call"],
      [500, ["rejected", reason]],
    ]);
  });

  it.each([
    { steps: 5, end: ["rejected", "gone"] },
    { steps: 4, end: exhaustedAfter(4) },
  ])(
    "makes no further call after an abort from within call 4 of $steps",
    async ({ steps, end }) => {
      let calls = 0;
      const condition = () => {
        if (++calls === 4) stop.abort("gone");
        return false;
      };
      const ended = start(condition, { duration: 100, steps });
      await harness.step(1000);
      await ended;
      expect(timeline.events.slice(3)).toEqual([
        [300, "call"],
        [300, end],
      ]);
    },
  );

  it("continues after errors that onError accepts, and counts those calls", async () => {
    const onError = vi.fn();
    const ended = start(fails, { duration: 100, steps: 3 }, { onError });
    await harness.step(1000);
    await ended;
    expect(onError.mock.calls).toEqual([[failure], [failure], [failure]]);
    expect(timeline.events.at(-1)).toEqual([200, exhaustedAfter(3)]);
  });

  it("passes its signal to the condition", async () => {
    const condition = vi.fn(() => true);
    await start(condition, { duration: 1, steps: 1 });
    expect(condition.mock.calls).toEqual([[stop.signal]]);
    const withoutSignal = vi.fn((signal: AbortSignal) => !signal.aborted);
    await exponentialBackoff(withoutSignal, { backoff: { duration: 1, steps: 1 } });
    expect(withoutSignal).toHaveBeenCalledOnce();
  });
});

it("does not change its options", async () => {
  const backoff = Object.freeze({ duration: 0, factor: 2, steps: 3 });
  for (let round = 0; round < 2; round++)
    await expect(exponentialBackoff(() => false, { backoff })).rejects.toThrow(
      "still false after 3 attempts",
    );
});
