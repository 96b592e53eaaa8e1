import { FakeClock } from "@holdfast/clock/testing";
import { RetryAfterError, TerminalError } from "@holdfast/wait";
import {
  type ConnectAttempt,
  type KeepConnectedOptions,
  keepConnected,
} from "@holdfast/wait/connect";
import { BinaryExponentialBackoff, ExcessiveCollisionsError } from "@holdfast/wait/strategies";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, type TimelineEvent, timelineOf } from "../../../../test/timeline.ts";
import { REASONS } from "../stage.ts";

const never = Number.POSITIVE_INFINITY;

let clock: FakeClock;
let stop: AbortController;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  stop = new AbortController();
  timeline = timelineOf(clock);
});

function expectNothingLeft(): void {
  const left = { timers: clock.waiters(), listeners: abortListeners(stop.signal) };
  expect(left).toEqual({ timers: 0, listeners: 0 });
}

afterEach(expectNothingLeft);

/** Duration of an attempt, and lifetime of its connection. */
interface Attempt {
  readonly duration?: number;
  readonly lifetime: number | "refused";
}

const refused: Attempt = { lifetime: "refused" };

type Connect = (attempt: ConnectAttempt) => Promise<Attempt>;
type Use = (connection: Attempt, signal: AbortSignal) => unknown;

/** Connects as these attempts say, in turn; later attempts are refused. */
function scripted(...attempts: readonly Attempt[]): Connect {
  let count = 0;
  return async ({ attempt, signal }) => {
    timeline.note(`attempt ${attempt}`);
    const script = attempts[count++] ?? refused;
    if (script.duration !== undefined) await clock.sleep(script.duration, { signal });
    if (script.lifetime === "refused") throw new Error("refused");
    return script;
  };
}

const hold: Use = async ({ lifetime }, signal) => {
  timeline.note("connected");
  if (lifetime !== "refused") await clock.sleep(lifetime, { signal });
  timeline.note("lost");
};

/** 100, 200, 400 and so on. */
const doubling = { duration: 100, factor: 2 };

type Options = Partial<KeepConnectedOptions<Attempt>>;

function start(connect: Connect, use: Use, options: Options = {}): Promise<void> {
  const { signal } = stop;
  const always = { resetAfter: 0, random: () => 0 };
  const all = { signal, clock, backoff: doubling, minConnectTimeout: 1_000, ...always, ...options };
  return timeline.noteEnd(keepConnected(connect, use, all));
}

/** All events until an instant. */
async function until(time: number, end: Promise<void>): Promise<readonly TimelineEvent[]> {
  await clock.step(time - (timeline.events.at(-1)?.[0] ?? 0));
  stop.abort();
  await end;
  return timeline.events;
}

describe("reconnecting", () => {
  it("is immediate after a connection that lasted longer than the first delay", async () => {
    const end = start(scripted({ lifetime: 5_000 }, { lifetime: never }), hold);
    expect(await until(6_000, end)).toEqual([
      [0, "attempt 1"],
      [0, "connected"],
      [5_000, "lost"],
      [5_000, "attempt 1"],
      [5_000, "connected"],
      [6_000, "resolved"],
    ]);
  });

  it("resets the delays after an accepted connection", async () => {
    const attempts = [refused, refused, refused, { lifetime: 1_000 }, refused, refused];
    const end = start(scripted(...attempts, { lifetime: never }), hold);
    expect(await until(3_000, end)).toEqual([
      [0, "attempt 1"],
      [100, "attempt 2"],
      [300, "attempt 3"],
      [700, "attempt 4"],
      [700, "connected"],
      [1_700, "lost"],
      [1_700, "attempt 1"],
      [1_800, "attempt 2"],
      [2_000, "attempt 3"],
      [2_000, "connected"],
      [3_000, "resolved"],
    ]);
  });

  interface ShortCase {
    readonly attempts: readonly Attempt[];
    readonly starts: readonly number[];
  }

  it.each(
    Object.entries<ShortCase>({
      "waits for the first delay after a peer that hangs up at once": {
        attempts: [{ lifetime: 0 }, { lifetime: 0 }, { lifetime: 0 }],
        starts: [0, 100, 200, 300],
      },
      "waits for the first delay from the start of the accepted attempt": {
        attempts: [
          { lifetime: 30, duration: 50 },
          { lifetime: 0, duration: 70 },
        ],
        starts: [0, 100, 200],
      },
      "waits for the first delay after a late attempt with a longer delay": {
        attempts: [refused, refused, refused, { lifetime: 30 }, { lifetime: never }],
        starts: [0, 100, 300, 700, 800],
      },
      "is immediate if the first delay had passed before the connection was accepted": {
        attempts: [refused, refused, { duration: 150, lifetime: 10 }, { lifetime: never }],
        starts: [0, 100, 300, 460],
      },
      "is immediate after a connection that lasted exactly the first delay": {
        attempts: [{ lifetime: 100 }, { lifetime: 99 }, { lifetime: 101 }],
        starts: [0, 100, 200, 301],
      },
    }),
  )("%s", async (_, { attempts, starts }) => {
    const end = start(scripted(...attempts), hold);
    const events = await until(starts.at(-1) as number, end);
    const seen = events.filter(([, event]) => String(event).startsWith("attempt"));
    expect(seen.map(([at]) => at)).toEqual(starts);
  });

  it("keeps the planned delay if the first delay is longer", async () => {
    const delays = [100];
    const backoff = { delayFunc: () => () => delays.shift() ?? 500 };
    const end = start(scripted({ lifetime: 0 }, { lifetime: never }), hold, { backoff });
    const events = await until(100, end);
    expect(events[3]).toEqual([100, "attempt 1"]);
  });
});

it("makes the last attempt that a strategy allows, and starts over after an accepted connection", async () => {
  const backoff = new BinaryExponentialBackoff({
    slotTime: 100,
    attemptLimit: 2,
    random: () => 0.5,
  });
  const end = start(scripted(refused, { lifetime: 50 }), hold, { backoff });
  await clock.step(1_000);
  await end;
  expect(timeline.events).toEqual([
    [0, "attempt 1"],
    [100, "attempt 2"],
    [100, "connected"],
    [150, "lost"],
    [200, "attempt 1"],
    [300, "attempt 2"],
    [300, ["rejected", new ExcessiveCollisionsError(2)]],
  ]);
});

it("uses the connection if the strategy has no delay at all, then rejects with its error", async () => {
  const empty = new Error("no delays");
  const backoff = {
    delayFunc: () => () => {
      throw empty;
    },
  };
  const end = start(scripted({ lifetime: 0 }), hold, { backoff });
  await clock.step(0);
  await end;
  expect(timeline.events).toEqual([
    [0, "attempt 1"],
    [0, "connected"],
    [0, "lost"],
    [0, ["rejected", empty]],
  ]);
});

it("rejects with the error of such a strategy after onError has received the error of the connection", async () => {
  const [empty, lost] = [new Error("no delays"), new Error("lost")];
  const backoff = {
    delayFunc: () => () => {
      throw empty;
    },
  };
  const use = () => {
    throw lost;
  };
  await start(scripted({ lifetime: 0 }), use, { backoff, onError: timeline.note });
  expect(timeline.events).toEqual([
    [0, "attempt 1"],
    [0, lost],
    [0, ["rejected", empty]],
  ]);
});

it.each<[string, Options]>([
  ["settles", {}],
  ["throws", { onError: () => stop.abort() }],
])(
  "resolves after an abort when use %s, even if the strategy has no delay left",
  async (how, options) => {
    const backoff = new BinaryExponentialBackoff({ slotTime: 100, attemptLimit: 1 });
    const use = () => {
      if (how === "throws") throw new Error("ECONNRESET");
      stop.abort();
    };
    await start(scripted({ lifetime: 0 }), use, { backoff, ...options });
    expect(timeline.events).toEqual([
      [0, "attempt 1"],
      [0, "resolved"],
    ]);
  },
);

it("rejects with a TerminalError of use, without calling onError", async () => {
  const terminal = new TerminalError("revoked");
  const onError = vi.fn();
  await start(scripted({ lifetime: never }), () => Promise.reject(terminal), { onError });
  expect(timeline.events.at(-1)).toEqual([0, ["rejected", terminal]]);
  expect(onError).not.toHaveBeenCalled();
});

it("connects again no earlier than a RetryAfterError of use names", async () => {
  const busy = new RetryAfterError(5_000);
  const use: Use = async () => {
    timeline.note("connected");
    await clock.sleep(10);
    throw busy;
  };
  const end = start(scripted({ lifetime: 0 }, { lifetime: 0 }), use, { onError: timeline.note });
  await clock.step(5_010);
  stop.abort();
  await clock.step(10);
  await end;
  expect(timeline.events.slice(0, 4)).toEqual([
    [0, "attempt 1"],
    [0, "connected"],
    [10, busy],
    [5_010, "attempt 1"],
  ]);
});

it("rejects with a TerminalError of connect", async () => {
  const terminal = new TerminalError("bad credentials");
  await start(() => Promise.reject(terminal), hold, { onError: timeline.note });
  expect(timeline.events).toEqual([[0, ["rejected", terminal]]]);
});

describe("use", () => {
  it("receives the connection, and a signal that aborts when that connection has ended", async () => {
    const used: { readonly connection: Attempt; readonly signal: AbortSignal }[] = [];
    const connections = [{ lifetime: 200 }, { lifetime: never }];
    const end = start(scripted(...connections), async (connection, signal) => {
      used.push({ connection, signal });
      await hold(connection, signal);
      expect(signal.aborted).toBe(false);
    });
    await clock.step(300);
    expect(used.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(used[0]?.signal.reason).toMatchObject({ name: "AbortError" });
    await until(300, end);
    expect(used.map(({ connection }) => connection)).toEqual(connections);
    expect(used[1]?.signal.reason).toBe(stop.signal.reason);
  });

  it("leaves no listener on the signal of the options, however many it adds to its own", async () => {
    const added: AbortSignal[] = [];
    const counts = new Set<number>();
    const end = start(
      () => Promise.resolve({ lifetime: 100 }),
      async (connection, signal) => {
        signal.addEventListener("abort", () => {});
        added.push(signal);
        await hold(connection, signal);
        counts.add(abortListeners(stop.signal));
      },
    );
    await clock.step(50_000);
    expect(added.length).toBeGreaterThanOrEqual(500);
    expect(new Set(added).size).toBe(added.length);
    expect([...counts]).toEqual([1]);
    stop.abort();
    await end;
  });

  const lost = new Error("ECONNRESET");
  const losing: Use = async () => {
    timeline.note("connected");
    await clock.sleep(150);
    throw lost;
  };

  it("rejects the call with its error without onError", async () => {
    const end = start(scripted({ lifetime: 0 }), losing);
    await clock.step(150);
    await end;
    expect(timeline.events.at(-1)).toEqual([150, ["rejected", lost]]);
  });

  it("passes its error to onError, never to onRetry", async () => {
    const onError = vi.fn();
    const onRetry = vi.fn();
    const end = start(scripted({ lifetime: 0 }, refused), losing, { onError, onRetry });
    await until(150, end);
    expect(onError.mock.calls).toEqual([[lost]]);
    expect(onRetry.mock.calls).toEqual([[{ attempt: 1, error: new Error("refused"), delay: 100 }]]);
  });

  it("leaves failures of connect to onRetry, also after a connection", async () => {
    const onError = vi.fn();
    const onRetry = vi.fn();
    const attempts = [refused, { lifetime: 200 }, refused, refused];
    const end = start(scripted(...attempts), hold, { onError, onRetry });
    await until(300, end);
    expect(onError).not.toHaveBeenCalled();
    expect(onRetry.mock.calls.map(([{ attempt, delay }]) => [attempt, delay])).toEqual([
      [1, 100],
      [1, 100],
    ]);
  });

  it("rejects the call with an error of onError or onRetry", async () => {
    const hopeless = new Error("hopeless");
    const fail = () => {
      throw hopeless;
    };
    const onLost = start(scripted({ lifetime: 0 }), losing, { onError: fail });
    await clock.step(150);
    await onLost;
    await start(scripted(refused), hold, { onRetry: fail });
    expect(timeline.events.filter(([, event]) => Array.isArray(event))).toEqual([
      [150, ["rejected", hopeless]],
      [150, ["rejected", hopeless]],
    ]);
  });
});

describe("resolves when its signal aborts", () => {
  interface AbortCase {
    readonly attempts: readonly Attempt[];
    readonly use?: Use;
    readonly abortAt: number;
    readonly events: readonly TimelineEvent[];
  }

  const slowToClose: Use = async () => {
    timeline.note("connected");
    await clock.sleep(500);
    timeline.note("closed");
  };

  it.each(
    Object.entries<AbortCase>({
      "during an attempt": {
        attempts: [{ duration: never, lifetime: never }],
        abortAt: 70,
        events: [
          [0, "attempt 1"],
          [70, "resolved"],
        ],
      },
      "during a delay": {
        attempts: [refused],
        abortAt: 70,
        events: [
          [0, "attempt 1"],
          [70, "resolved"],
        ],
      },
      "during a connection, when that has closed": {
        attempts: [{ lifetime: never }],
        use: slowToClose,
        abortAt: 70,
        events: [
          [0, "attempt 1"],
          [0, "connected"],
          [500, "closed"],
          [500, "resolved"],
        ],
      },
      "during a connection whose use rejects with signal.reason": {
        attempts: [refused, { lifetime: never }],
        abortAt: 170,
        events: [
          [0, "attempt 1"],
          [100, "attempt 2"],
          [100, "connected"],
          [170, "resolved"],
        ],
      },
      "in the tick of the next attempt": {
        attempts: [refused],
        abortAt: 100,
        events: [
          [0, "attempt 1"],
          [100, "resolved"],
        ],
      },
    }),
  )("%s", async (_, { attempts, use = hold, abortAt, events }) => {
    for (const reason of REASONS) {
      stop = new AbortController();
      timeline = timelineOf(clock);
      clock.afterFunc(abortAt, () => stop.abort(reason));
      const end = start(scripted(...attempts), use);
      await clock.step(1_000);
      await end;
      expect(timeline.events).toEqual(events);
      expectNothingLeft();
    }
  });

  it("during an onRetry that never settles", async () => {
    const end = start(scripted(refused), hold, { onRetry: () => new Promise(() => {}) });
    await clock.step(70);
    stop.abort();
    await end;
    expect(timeline.events).toEqual([
      [0, "attempt 1"],
      [70, "resolved"],
    ]);
  });

  it("before the call, without calling connect or use", async () => {
    const connect = vi.fn();
    stop.abort("early");
    await start(connect, connect);
    expect(timeline.events).toEqual([[0, "resolved"]]);
    expect(connect).not.toHaveBeenCalled();
  });

  it("from within the strategy, after a connection has ended", async () => {
    let sequences = 0;
    const aborting = () => {
      if (++sequences === 2) stop.abort("inside");
      return () => 100;
    };
    const connect = scripted({ lifetime: 0 });
    await start(connect, () => {}, { backoff: { delayFunc: aborting } });
    expect(timeline.events).toEqual([
      [0, "attempt 1"],
      [0, "resolved"],
    ]);
  });

  it("and loses no connection, at any microtask", async () => {
    const outcomes = new Set<string>();
    const onLate = () => timeline.note("late");
    for (let microtasks = 0; microtasks < 24; microtasks++) {
      stop = new AbortController();
      timeline = timelineOf(clock);
      const end = start(scripted({ lifetime: never }), hold, { onLate });
      for (let i = 0; i < microtasks; i++) await undefined;
      stop.abort("enough");
      await end;
      outcomes.add(timeline.events.map(([, event]) => String(event)).join("; "));
      expectNothingLeft();
    }
    expect([...outcomes]).toEqual(["attempt 1; late; resolved", "attempt 1; connected; resolved"]);
  });
});

describe("a connection that ends", () => {
  const instants = (events: readonly TimelineEvent[]): unknown[] =>
    events.flatMap(([at, event]) => (String(event).startsWith("attempt") ? [[at, event]] : []));
  const hangsUp: Use = () => {};

  it("before resetAfter does not reset the delays", async () => {
    const script = Array.from({ length: 9 }, () => ({ lifetime: 0 }));
    const end = start(scripted(...script), hangsUp, { resetAfter: 10_000 });
    await clock.step(2_000);
    stop.abort();
    await end;
    expect(instants(timeline.events)).toEqual([
      [0, "attempt 1"],
      [100, "attempt 2"],
      [300, "attempt 3"],
      [700, "attempt 4"],
      [1_500, "attempt 5"],
    ]);
  });

  it("after resetAfter resets them, by default after 10 s", async () => {
    const script = [{ lifetime: 9_999 }, { lifetime: 10_000 }, { lifetime: never }];
    const end = start(scripted(...script), hold, { resetAfter: undefined });
    await clock.step(30_000);
    stop.abort();
    await end;
    expect(instants(timeline.events)).toEqual([
      [0, "attempt 1"],
      [9_999, "attempt 2"],
      [19_999, "attempt 1"],
    ]);
  });

  it.each([
    ["stable", 20_000, 100],
    ["short", 5_000, 100],
  ])("is followed by an attempt at a random time, if it was %s", async (_, lifetime, delay) => {
    const again: number[] = [];
    for (const chance of [0, 0.25, 0.5, 0.75]) {
      const own = new FakeClock();
      const begin = own.monotonic();
      const end = new AbortController();
      const connect = ({ startedAt }: ConnectAttempt): void => void again.push(startedAt - begin);
      const kept = keepConnected(
        connect,
        (_connection, signal) => own.sleep(lifetime, { signal }),
        {
          signal: end.signal,
          backoff: { duration: delay },
          random: () => chance,
          clock: own,
        },
      );
      await own.step(lifetime + delay);
      end.abort();
      await own.run(() => kept.catch(() => {}));
    }
    expect(again.filter((at) => at > 0)).toEqual([0, 25, 50, 75].map((part) => lifetime + part));
  });
});

describe("clients that lose their connections at one instant connect again at different ones", () => {
  const RANDOM = [0, 0.1, 0.5, 0.999];

  /** When clients, each with one of the draws, make their second attempt. */
  async function secondAttempts(lifetime: number, options: Options): Promise<readonly number[]> {
    const times: number[] = [];
    for (const draw of RANDOM) {
      clock = new FakeClock();
      stop = new AbortController();
      timeline = timelineOf(clock);
      const connect = scripted({ lifetime });
      const end = start(connect, hold, { ...options, random: () => draw });
      const events = await until(lifetime + 200_000, end);
      times.push(
        Math.floor(
          events.filter(([, text]) => String(text).startsWith("attempt"))[1]?.[0] ?? never,
        ),
      );
    }
    return times;
  }

  const constant = { duration: 30_000 };
  it.each<[string, number, Options, number]>([
    ["longer than the delay", 60_000, { backoff: constant, resetAfter: 10_000 }, 60_000],
    ["as long as the delay", 30_000, { backoff: constant, resetAfter: 10_000 }, 30_000],
    ["a bit shorter than the delay", 29_000, { backoff: constant, resetAfter: 10_000 }, 30_000],
    ["shorter than the delay", 12_000, { backoff: constant, resetAfter: 10_000 }, 30_000],
    ["not at all", 0, { backoff: constant, resetAfter: 0 }, 30_000],
    ["shorter than resetAfter", 5_000, { backoff: constant, resetAfter: 10_000 }, 30_000],
    ["shorter than both", 0, { backoff: constant, resetAfter: 10_000 }, 30_000],
  ])("after connections that lasted %s", async (_, lifetime, options, earliest) => {
    const times = await secondAttempts(lifetime, options);
    expect(times).toEqual(RANDOM.map((draw) => earliest + Math.floor(draw * 30_000)));
  });

  it("after the time that the peer named to all of them", async () => {
    const times: number[] = [];
    for (const draw of RANDOM) {
      clock = new FakeClock();
      stop = new AbortController();
      timeline = timelineOf(clock);
      const use: Use = async () => {
        throw new RetryAfterError(60_000);
      };
      const options = { backoff: constant, random: () => draw, onError: () => {} };
      const events = await until(100_000, start(scripted({ lifetime: 0 }), use, options));
      times.push(events.filter(([, text]) => String(text).startsWith("attempt"))[1]?.[0] ?? never);
    }
    expect(times).toEqual(RANDOM.map((draw) => 60_000 + draw * 30_000));
  });
});
