import { EventEmitter, once } from "node:events";
import { BaseClock, type Timer, type TimerOptions } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  isLeadershipLostError,
  LeaderElector,
  type LeaderElectorOptions,
  type Leadership,
  LockConflictError,
  MemoryLock,
  silentLogger,
  type Versioned,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { hang, loseReply, RecordingLock, refuse, serve } from "./recording-lock.ts";

const { signal: never } = new AbortController();

let clock: FakeClock;
let start: number;
let lock: RecordingLock;
let events: [number, string][];
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  lock = new RecordingLock();
  events = [];
  stop = new AbortController();
});

function note(text: string): void {
  events.push([clock.monotonic() - start, text]);
}

/** Works until its signal aborts, and notes why. */
async function work({ token, signal }: Leadership): Promise<void> {
  note(`leads ${token}`);
  await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
  note(isLeadershipLostError(signal.reason) ? signal.reason.loss : `${signal.reason}`);
}

/** The clock of a process that can be paused for a while: it jumps, and its timers are late. */
class JumpingClock extends BaseClock {
  elapsed = 0;

  override now(): number {
    return clock.now() + this.elapsed;
  }

  override monotonic(): number {
    return clock.monotonic() + this.elapsed;
  }

  override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
    return clock.afterFunc(delay, fire, options);
  }
}

/** Leases of 15 s, deadlines of 10, requests every 2, without jitter. */
function elector(options: Partial<LeaderElectorOptions> = {}): LeaderElector {
  return new LeaderElector({
    lock,
    identity: "baz",
    lead: work,
    clock,
    random: () => 0,
    logger: silentLogger,
    ...options,
  });
}

/** What somebody else writes. */
async function write(holder: string, transitions: number, leaseDuration = 10_000): Promise<void> {
  const record = { holder, leaseDuration, acquiredAt: 0, renewedAt: 0, transitions };
  const found = await lock.lock.get(never);
  if (found === undefined) await lock.lock.create(record, never);
  else await lock.lock.update(record, found.version, never);
}

async function stored(): Promise<unknown> {
  const { holder, transitions } = (await lock.lock.get(never))?.record ?? {};
  return [holder, transitions];
}

async function stopped(run: Promise<void>): Promise<void> {
  stop.abort("stop");
  await run;
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
}

describe("becoming leader (TestTryAcquireOrRenewLeases)", () => {
  it.each<{ name: string; before: [string, number] | undefined; token: number; calls: string[] }>([
    { name: "creates a record", before: undefined, token: 0, calls: ["get", "create"] },
    { name: "takes what nobody holds", before: ["", 0], token: 1, calls: ["get", "update"] },
    {
      name: "takes what it held in another life, under a new token",
      before: ["baz", 4],
      token: 5,
      calls: ["get", "update"],
    },
  ])("$name, at once", async ({ before, token, calls }) => {
    if (before !== undefined) await write(...before);
    let atFirst: readonly string[] = [];
    const lead = (leadership: Leadership): Promise<void> => {
      atFirst = [...lock.calls];
      return work(leadership);
    };
    const run = elector({ lead }).run(stop.signal);
    await clock.step(0);
    expect(events).toEqual([[0, `leads ${token}`]]);
    expect([atFirst, await stored()]).toEqual([calls, ["baz", token]]);
    await stopped(run);
  });

  it("waits for the duration that the record states, not for its own", async () => {
    await write("bing", 0, 3_000);
    const run = elector().run(stop.signal);
    await clock.step(3_999);
    expect([events, lock.calls]).toEqual([[], ["get", "get"]]);
    await clock.step(1);
    expect(events).toEqual([[4_000, "leads 1"]]);
    await stopped(run);
  });

  it("restarts its wait at each change of the record, independent of the times in it", async () => {
    await write("bing", 0);
    const run = elector().run(stop.signal);
    for (let i = 0; i < 10; i++) {
      await clock.step(9_000);
      await write("bing", 0);
    }
    expect([events, await stored()]).toEqual([[], ["bing", 0]]);
    await clock.step(11_999);
    expect(events).toEqual([]);
    await clock.step(1);
    expect(events).toEqual([[102_000, "leads 1"]]);
    await stopped(run);
  });

  it("ignores jumps of the wall clock", async () => {
    await write("bing", 0);
    const run = elector().run(stop.signal);
    clock.setSystemTime(clock.now() + 1e9);
    await clock.step(9_999);
    expect(events).toEqual([]);
    clock.setSystemTime(clock.now() - 2e9);
    await clock.step(1);
    expect(events).toEqual([[10_000, "leads 1"]]);
    await stopped(run);
  });

  it("spreads attempts over 1 to 2.2 retry periods", async () => {
    await write("bing", 0, 1e9);
    const run = elector({ random: () => 0.999_999 }).run(stop.signal);
    await clock.step(4_399);
    expect(lock.calls).toHaveLength(1);
    await clock.step(1);
    expect(lock.calls).toHaveLength(2);
    await stopped(run);
  });

  it("continues when another elector was faster", async () => {
    lock.failNext(serve, async () => {
      await write("bing", 0, 1_000);
      throw new LockConflictError("recording");
    });
    const errors: unknown[] = [];
    const run = elector({ onError: (error) => errors.push(error) }).run(stop.signal);
    await clock.step(4_000);
    expect([events, errors]).toEqual([[[4_000, "leads 1"]], []]);
    await stopped(run);
  });

  it("does not lead on a grant that arrived late after a pause, but on a new one", async () => {
    const jumping = new JumpingClock();
    lock.failNext(serve, async (request) => {
      const reply = await request();
      jumping.elapsed = 10_000;
      return reply;
    });
    const run = elector({ clock: jumping }).run(stop.signal);
    await clock.step(1_999);
    expect([events, await stored()]).toEqual([[], ["baz", 0]]);
    await clock.step(1);
    expect(events).toEqual([[2_000, "leads 1"]]);
    await stopped(run);
  });

  it("respects the lease of a record that was removed", async () => {
    await write("bing", 7);
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failAll(async () => undefined);
    await clock.step(8_999);
    expect(lock.calls).not.toContain("create");
    lock.failAll(undefined);
    await clock.step(1);
    expect(events).toEqual([[10_000, "leads 8"]]);
    await stopped(run);
  });
});

describe("staying leader", () => {
  it("renews without reading, and reads after a conflict (TestFastPathLeaderElection)", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_999);
    expect(lock.calls).toEqual(["get", "create", "update"]);
    // The reply to a renewal was lost, so the version is not the one that it knows.
    await write("baz", 0);
    await clock.step(4_000);
    const afterwards = ["update", "get", "update", "update"];
    expect(lock.calls.slice(3)).toEqual(afterwards);
    expect([events, await stored()]).toEqual([[[0, "leads 0"]], ["baz", 0]]);
    await stopped(run);
  });

  it("steps down the moment it sees another holder", async () => {
    const run = elector().run(stop.signal);
    await clock.step(3_000);
    await write("bing", 1);
    await clock.step(999);
    expect(events).toEqual([[0, "leads 0"]]);
    await clock.step(1);
    expect(events.slice(1)).toEqual([[4_000, "replaced"]]);
    expect(await stored()).toEqual(["bing", 1]);
    await clock.step(10_000);
    expect(events.slice(2)).toEqual([[14_000, "leads 2"]]);
    await stopped(run);
  });

  it("does not lead again when it is stopped after another holder was seen", async () => {
    const baz = elector({ lead: () => new Promise(() => {}) });
    void baz.run(stop.signal);
    await clock.step(3_000);
    await write("bing", 1);
    await clock.step(1_000);
    expect(baz.isLeader).toBe(false);
    stop.abort();
    expect(baz.isLeader).toBe(false);
  });

  it("steps down when it sees another process with its identity", async () => {
    const run = elector().run(stop.signal);
    await clock.step(3_000);
    await write("baz", 1);
    await clock.step(1_000);
    expect(events.slice(1, 2)).toEqual([[4_000, "replaced"]]);
    await stopped(run);
  });

  it.each([
    ["refuses", refuse],
    ["hangs and ignores its signal", hang],
    [
      "throws",
      (): never => {
        throw new Error("broken");
      },
    ],
  ])("steps down at the deadline after the last success when the lock %s", async (_, fault) => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(5_000);
    lock.failAll(fault);
    await clock.step(8_999.999);
    expect([events, baz.isLeader, baz.status().state]).toEqual([[[0, "leads 0"]], true, "leading"]);
    await clock.step(0.001);
    expect([events.slice(1), baz.isLeader]).toEqual([[[14_000, "expired"]], false]);
    lock.failAll(undefined);
    await clock.step(7_000);
    expect(events.slice(2).map(([, text]) => text)).toEqual(["leads 1"]);
    await stopped(run);
  });

  it("counts the deadline from before a request, not from its late reply", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failNext(async (request) => {
      const reply = await request();
      await clock.sleep(4_900);
      return reply;
    });
    lock.failAll(refuse);
    await clock.step(10_999);
    expect(events).toHaveLength(1);
    await clock.step(1);
    expect(events.slice(1)).toEqual([[12_000, "expired"]]);
    lock.failAll(undefined);
    await stopped(run);
  });

  it.each<{ name: string; firstToken: number; before?: number; token: number }>([
    { name: "the first token of a lock without a record", firstToken: 70, token: 70 },
    { name: "a token above those of before", firstToken: 70, before: 80, token: 81 },
    { name: "the first token, above those of before", firstToken: 70, before: 5, token: 70 },
  ])("leads with $name", async ({ firstToken, before, token }) => {
    Object.assign(lock, { firstToken });
    if (before !== undefined) await write("a", before);
    const run = elector().run(stop.signal);
    await clock.step(0);
    if (before !== undefined) lock.lock = new MemoryLock();
    await clock.step(20_000);
    expect(events.map(([, text]) => text)).toEqual([`leads ${token}`]);
    expect(await stored()).toEqual(["baz", token]);
    await stopped(run);
  });

  it("survives lost replies and a removed record", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failNext(loseReply);
    await clock.step(20_000);
    lock.failNext(
      () => Promise.reject(new LockConflictError("recording")),
      async () => undefined,
      async () => ({
        record: {
          holder: "baz",
          leaseDuration: 15_000,
          acquiredAt: 0,
          renewedAt: 0,
          transitions: 0,
        },
        version: "new",
      }),
    );
    const from = lock.calls.length;
    await clock.step(2_000);
    expect(lock.calls.slice(from)).toEqual(["update", "get", "create"]);
    await clock.step(60_000);
    expect(events).toEqual([[0, "leads 0"]]);
    await stopped(run);
  });

  it("knows after a pause that it no longer leads, before anything else runs", async () => {
    const jumping = new JumpingClock();
    const baz = elector({ clock: jumping });
    const run = baz.run(stop.signal);
    await clock.step(0);
    jumping.elapsed = 9_999;
    expect([baz.isLeader, baz.status().state]).toEqual([true, "leading"]);
    jumping.elapsed = 10_000;
    expect([baz.isLeader, baz.status().state]).toEqual([false, "stopping"]);
    jumping.elapsed = 0;
    await stopped(run);
  });

  it("does not lead beside the next leader after a suspension, and says so within a retry period", async () => {
    // On Linux the monotonic clock, and with it every timer, stands still in a suspension.
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    clock.setSystemTime(clock.now() + 60_000);
    await write("bing", 1);
    expect([baz.isLeader, baz.status().state]).toEqual([false, "stopping"]);
    expect(events).toEqual([[0, "leads 0"]]);
    await clock.step(1_000);
    expect(events[1]).toEqual([2_000, "expired"]);
    await clock.step(5_000);
    expect([baz.leader, events.length]).toEqual(["bing", 2]);
    await stopped(run);
  });

  it("loses one term, no more, when the wall clock is set forward, and none when it is set back", async () => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    clock.setSystemTime(clock.now() - 3_600_000);
    await clock.step(60_000);
    expect(events).toEqual([[0, "leads 0"]]);
    clock.setSystemTime(clock.now() + 9_000 - 1_000); // shorter than the deadline
    expect(baz.isLeader).toBe(true);
    clock.setSystemTime(clock.now() + 3_600_000);
    await clock.step(60_000);
    expect(events.map(([, event]) => event)).toEqual(["leads 0", "expired", "leads 1"]);
    expect(baz.status()).toMatchObject({ state: "leading", overdue: 0 });
    await stopped(run);
  });

  it("records when it became leader, and when it renewed", async () => {
    const run = elector().run(stop.signal);
    const begin = clock.now();
    await clock.step(4_000);
    const record = { holder: "baz", leaseDuration: 15_000, transitions: 0 };
    expect((await lock.lock.get(never))?.record).toEqual({
      ...record,
      acquiredAt: begin,
      renewedAt: begin + 4_000,
    });
    await stopped(run);
  });

  it("does not begin again when a renewal arrives just after the end", async () => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    lock.failNext((request) => {
      const reply = request();
      void reply
        .then(() => {})
        .then(() => {})
        .then(() => baz.resign());
      return reply;
    });
    await clock.step(1_000);
    expect([events.slice(1), await stored()]).toEqual([
      [[2_000, "AbortError: the leader resigned"]],
      ["", 0],
    ]);
    await stopped(run);
  });

  it("works with leases of milliseconds", async () => {
    const run = elector({ leaseDuration: 1.5, renewDeadline: 1, retryPeriod: 0.2 }).run(
      stop.signal,
    );
    await clock.step(100);
    expect(events).toEqual([[0, "leads 0"]]);
    lock.failAll(hang);
    await clock.step(2);
    expect(events[1]?.[1]).toBe("expired");
    expect((await lock.lock.get(never))?.record.leaseDuration).toBe(1.5);
    lock.failAll(undefined);
    await stopped(run);
  });
});

describe("releasing the lease", () => {
  it("waits for the work first (kubernetes/client-go#728)", async () => {
    const baz = elector({
      lead: async ({ signal }) => {
        await clock.sleep(1e9, { signal }).catch(() => {});
        await clock.sleep(3_000);
        note(`ended, ${await stored()}`);
      },
    });
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    stop.abort("stop");
    await clock.step(2_999);
    expect([baz.isLeader, baz.status().state, baz.status().token]).toEqual([true, "stopping", 0]);
    await clock.step(1);
    await run;
    expect(events).toEqual([[4_000, "ended, baz,0"]]);
    expect([await stored(), baz.status().state, baz.leader]).toEqual([["", 0], "idle", undefined]);
  });

  it("reads, writes, and keeps the token (TestReleaseLeaseLeases, TestReleaseMethodCallsGet)", async () => {
    const leaders: unknown[] = [];
    const run = elector({ onNewLeader: (leader) => leaders.push(leader) }).run(stop.signal);
    await clock.step(1_000);
    const from = lock.calls.length;
    await stopped(run);
    expect(lock.calls.slice(from)).toEqual(["get", "update"]);
    expect([await stored(), leaders]).toEqual([
      ["", 0],
      ["baz", undefined],
    ]);
  });

  it("tries again after a conflict (TestReleaseRetriesOnConflict)", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failNext(serve, () => Promise.reject(new LockConflictError("recording")));
    stop.abort("stop");
    await clock.step(250);
    await stopped(run);
    expect(await stored()).toEqual(["", 0]);
  });

  it("tries again within the 5 s, also with a retry period of a minute", async () => {
    const times = { retryPeriod: 60_000, renewDeadline: 100_000, leaseDuration: 150_000 };
    const run = elector(times).run(stop.signal);
    await clock.step(1_000);
    lock.failNext(serve, () => Promise.reject(new LockConflictError("recording")));
    stop.abort("stop");
    await clock.step(624);
    expect(await stored()).toEqual(["baz", 0]);
    await clock.step(1);
    expect(await stored()).toEqual(["", 0]);
    await stopped(run);
  });

  it.each([
    ["update", []],
    ["get", [() => Promise.reject(new LockConflictError("recording"))]],
  ])(
    "succeeds although a renewal hangs in its %s (TestReleaseOnCancellation_Leases)",
    async (_, faults) => {
      const run = elector().run(stop.signal);
      await clock.step(1_000);
      lock.failNext(...faults, hang);
      await clock.step(1_000);
      await stopped(run);
      expect(await stored()).toEqual(["", 0]);
    },
  );

  it("keeps a lease that another elector has taken", async () => {
    const run = elector({ lead: () => clock.sleep(20_000) }).run(stop.signal);
    await clock.step(1_000);
    stop.abort("stop");
    await write("bing", 1);
    await clock.step(19_000);
    await stopped(run);
    expect(await stored()).toEqual(["bing", 1]);
  });

  it("tries again if a request hangs, after half of the 5 s", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failNext(hang);
    stop.abort("stop");
    await clock.step(2_749);
    expect(await stored()).toEqual(["baz", 0]);
    await clock.step(1);
    await stopped(run);
    expect(await stored()).toEqual(["", 0]);
  });

  it("gives up after 5 s if the lock does not answer", async () => {
    const run = elector().run(stop.signal);
    await clock.step(1_000);
    lock.failAll(hang);
    stop.abort("stop");
    let over = false;
    void run.then(() => {
      over = true;
    });
    await clock.step(4_999);
    expect(over).toBe(false);
    await clock.step(1);
    expect([over, await stored()]).toEqual([true, ["baz", 0]]);
    await stopped(run);
  });

  it("happens if it is stopped while it becomes leader; it never leads", async () => {
    lock.failNext(serve, loseReply);
    const run = elector().run(stop.signal);
    await clock.step(0);
    expect(await stored()).toEqual(["baz", 0]);
    await stopped(run);
    expect([await stored(), events]).toEqual([["", 0], []]);
  });

  it.each<{ name: string; before: [string, number] | undefined; after: unknown[] }>([
    { name: "first record", before: undefined, after: ["", 0] },
    { name: "takeover", before: ["", 4], after: ["", 5] },
  ])("waits for a pending $name, and then releases", async ({ before, after }) => {
    if (before !== undefined) await write(...before);
    lock.failNext(serve, async (request) => {
      await clock.sleep(100);
      return await request(never);
    });
    const run = elector().run(stop.signal);
    await clock.step(50);
    stop.abort("stop");
    const over = run.then(() => note("over"));
    await clock.step(50);
    await over;
    expect([await stored(), events]).toEqual([after, [[100, "over"]]]);
    await stopped(run);
  });

  it("gives up after 5 s if its first write hangs", async () => {
    lock.failNext(serve, hang);
    const run = elector().run(stop.signal);
    await clock.step(50);
    stop.abort("stop");
    const over = run.then(() => note("over"));
    await clock.step(5_000);
    await over;
    expect(events).toEqual([[5_050, "over"]]);
    await stopped(run);
  });

  it("does not wait for a write that would be too late anyway", async () => {
    lock.failNext(serve, hang);
    const run = elector().run(stop.signal);
    await clock.step(50);
    await write("bing", 0);
    await stopped(run);
    expect(await stored()).toEqual(["bing", 0]);
  });

  it("writes nothing if it never led (kubernetes/client-go#1187)", async () => {
    await write("bing", 0);
    const run = elector().run(stop.signal);
    await clock.step(5_000);
    await stopped(run);
    expect([lock.calls, events]).toEqual([["get", "get", "get"], []]);
  });
});

describe("ending a term voluntarily", () => {
  it("hands over when it resigns, and rests for one lease", async () => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    const resigned = baz.resign().then(() => note("free"));
    await resigned;
    expect([events.slice(1), await stored()]).toEqual([
      [
        [1_000, "AbortError: the leader resigned"],
        [1_000, "free"],
      ],
      ["", 0],
    ]);
    const bing = elector({ identity: "bing" });
    const other = bing.run(stop.signal);
    await clock.step(0);
    expect([baz.isLeader, bing.isLeader, baz.status().state]).toEqual([false, true, "idle"]);
    await bing.resign();
    await clock.step(14_999);
    expect(events).toHaveLength(5);
    await clock.step(1);
    expect(events.slice(5)).toEqual([[16_000, "leads 2"]]);
    await baz.resign();
    stop.abort();
    await Promise.all([run, other]);
    expect(clock.waiters()).toBe(0);
  });

  it("resolves resign() after the release, also if lead calls it before its first await", async () => {
    const baz: LeaderElector = elector({
      lead: async ({ signal }) => {
        void baz.resign().then(async () => note(`resigned: ${await stored()}`));
        note(`aborted: ${signal.aborted}`);
        await clock.sleep(3_000);
      },
    });
    const run = baz.run(stop.signal);
    await clock.step(3_000);
    expect(events).toEqual([
      [0, "aborted: true"],
      [3_000, "resigned: ,0"],
    ]);
    await stopped(run);
  });

  it("does nothing when it resigns and does not lead", async () => {
    const baz = elector();
    await baz.resign();
    expect([lock.calls, events]).toEqual([[], []]);
  });

  it("campaigns again when the work has ended by itself", async () => {
    const run = elector({ lead: () => note("works") }).run(stop.signal);
    await clock.step(14_999);
    expect([events, await stored()]).toEqual([[[0, "works"]], ["", 0]]);
    await clock.step(1);
    expect(events.slice(1)).toEqual([[15_000, "works"]]);
    await stopped(run);
  });

  it("runs for one term with once, and can run again", async () => {
    const baz = elector({ once: true, lead: ({ token }) => note(`works ${token}`) });
    await baz.run(stop.signal);
    await baz.run(stop.signal);
    expect([events, await stored()]).toEqual([
      [
        [0, "works 0"],
        [0, "works 1"],
      ],
      ["", 1],
    ]);
    await stopped(baz.run(AbortSignal.abort()));
    expect(events).toHaveLength(2);
  });
});

describe("errors", () => {
  it("of the work end the run, after the lease is released", async () => {
    const error = new Error("broken");
    const baz = elector({ lead: () => Promise.reject(error) });
    await expect(baz.run(stop.signal)).rejects.toBe(error);
    expect([await stored(), clock.waiters(), abortListeners(stop.signal)]).toEqual([["", 0], 0, 0]);
    await expect(baz.run(stop.signal)).rejects.toBe(error);
  });

  it("of the work go to onError, and the elector rests and continues", async () => {
    const errors: unknown[] = [];
    const lead = (): never => {
      note("leads");
      throw new Error("broken");
    };
    const run = elector({ lead, onError: (error) => errors.push(error) }).run(stop.signal);
    await clock.step(15_000);
    expect([events, errors]).toEqual([
      [
        [0, "leads"],
        [15_000, "leads"],
      ],
      [new Error("broken"), new Error("broken")],
    ]);
    await stopped(run);
  });

  it.each<{ name: string; lead: LeaderElectorOptions["lead"] }>([
    { name: "the reason", lead: ({ signal }) => clock.sleep(1e9, { signal }) },
    {
      name: "an AbortError around it, as Node's own functions do",
      lead: ({ signal }) => once(new EventEmitter(), "never", { signal }),
    },
  ])("that only propagate the stop are ignored: $name", async ({ lead }) => {
    const run = elector({ lead }).run(stop.signal);
    await clock.step(1_000);
    await stopped(run);
  });

  it("that only propagate the end of a term are ignored: it campaigns again", async () => {
    const lead = async (leadership: Leadership): Promise<void> => {
      note(`leads ${leadership.token}`);
      await once(new EventEmitter(), "never", { signal: leadership.signal });
    };
    const run = elector({ lead }).run(stop.signal);
    await clock.step(1_000);
    lock.failAll(refuse);
    await clock.step(10_000);
    lock.failAll(undefined);
    await clock.step(2_000);
    expect(events).toEqual([
      [0, "leads 0"],
      [12_000, "leads 1"],
    ]);
    await stopped(run);
  });

  it("that resemble the stop end the run while the term lasts", async () => {
    const error = new DOMException("not mine", "AbortError");
    const run = elector({ lead: () => Promise.reject(error) }).run(stop.signal);
    await expect(run).rejects.toBe(error);
  });

  it("of onNewLeader and onError end the run", async () => {
    const error = new Error("hook");
    const fail = (): never => {
      throw error;
    };
    await expect(elector({ onNewLeader: fail }).run(stop.signal)).rejects.toBe(error);
    lock.failNext(refuse);
    await expect(elector({ onError: fail }).run(stop.signal)).rejects.toBe(error);
    expect([clock.waiters(), abortListeners(stop.signal), events.length <= 1]).toEqual([
      0,
      0,
      true,
    ]);
  });

  it("of an async onNewLeader go to onError, and the elector continues", async () => {
    const error = new Error("hook");
    const errors: unknown[] = [];
    const onNewLeader = (): Promise<never> => Promise.reject(error);
    const run = elector({ onNewLeader, onError: (told) => errors.push(told) }).run(stop.signal);
    await clock.step(1_000);
    expect([errors, events]).toEqual([[error], [[0, "leads 0"]]]);
    await stopped(run);
  });

  it("of async hooks end the run unless they are handled", async () => {
    const error = new Error("hook");
    const fail = (): Promise<never> => Promise.reject(error);
    await expect(elector({ onNewLeader: fail }).run(stop.signal)).rejects.toBe(error);
    lock.failNext(refuse);
    await expect(elector({ onError: fail }).run(stop.signal)).rejects.toBe(error);
    expect([clock.waiters(), await stored()]).toEqual([0, ["", 0]]);
  });

  it("of the lock are retried, reported, and shown until it responds", async () => {
    const errors: unknown[] = [];
    const baz = elector({ onError: (error) => errors.push(error) });
    lock.failNext(refuse, hang);
    const run = baz.run(stop.signal);
    await clock.step(1_999);
    const refused = new Error("refused");
    expect([errors, baz.status().lastError, baz.status().sinceAnswer]).toEqual([
      [refused],
      refused,
      undefined,
    ]);
    await clock.step(5_001);
    expect(errors.slice(1)).toMatchObject([{ code: "ERR_WAIT_TIMEOUT", timeout: 5_000 }]);
    await clock.step(2_000);
    expect([baz.status().lastError, baz.status().sinceAnswer, baz.isLeader]).toEqual([
      undefined,
      0,
      true,
    ]);
    await stopped(run);
  });
});

describe("a lock that resolves to a value other than a record", () => {
  const record = { holder: "baz", leaseDuration: 15_000, acquiredAt: 0, renewedAt: 0 };
  const answers: [string, unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["a record without a version", { record: { ...record, transitions: 0 } }],
    ["a version without a record", { version: "1" }],
    ["a record without a number", { record, version: "1" }],
  ];

  it.each(answers)(
    "does not renew the lease by an update that resolves to %s",
    async (_, answer) => {
      const errors: unknown[] = [];
      const baz = elector({ onError: (error) => errors.push(error) });
      const run = baz.run(stop.signal);
      await clock.step(1_000);
      lock.failAll(async () => answer as undefined);
      await clock.step(9_000);
      expect(errors[0]).toEqual(
        new TypeError(
          `lock.update() must resolve to a record and its version, got ${String(answer)}`,
        ),
      );
      expect([events, baz.isLeader]).toEqual([
        [
          [0, "leads 0"],
          [10_000, "expired"],
        ],
        false,
      ]);
      lock.failAll(undefined);
      await stopped(run);
    },
  );

  it("is not led on a create that resolves to undefined", async () => {
    const errors: unknown[] = [];
    const baz = elector({ onError: (error) => errors.push(error) });
    lock.failNext(serve, async () => undefined);
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    expect([`${errors}`, baz.isLeader]).toEqual([
      "TypeError: lock.create() must resolve to a record and its version, got undefined",
      false,
    ]);
    await stopped(run);
  });

  const own = { ...record, transitions: 0 };
  const wrongAnswers: [string, Versioned, string][] = [
    [
      "the record of another process",
      { record: { ...own, holder: "bing" }, version: "2" },
      '{"holder":"bing","transitions":0,"version":"2"}',
    ],
    [
      "a record of another term",
      { record: { ...own, transitions: 1 }, version: "2" },
      '{"holder":"baz","transitions":1,"version":"2"}',
    ],
    [
      "the version that it replaced",
      { record: own, version: "1" },
      '{"holder":"baz","transitions":0,"version":"1"}',
    ],
  ];

  it.each(wrongAnswers)(
    "does not renew the lease by an update that resolves to %s",
    async (_, answer, got) => {
      const errors: unknown[] = [];
      lock.failNext(serve, serve);
      lock.failAll(async () => answer);
      const run = elector({ onError: (error) => errors.push(error) }).run(stop.signal);
      await clock.step(10_000);
      expect(errors[0]).toEqual(
        new TypeError(
          `lock.update() must resolve to the record it has written, with a new version, got ${got}`,
        ),
      );
      expect(events).toEqual([
        [0, "leads 0"],
        [10_000, "expired"],
      ]);
      lock.failAll(undefined);
      await stopped(run);
    },
  );

  it("has one leader if a create that finds a record resolves to it instead of a conflict", async () => {
    await write("bing", 0);
    const found = await lock.lock.get(never);
    lock.failNext(
      async () => undefined,
      async () => found,
    );
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    expect([events, baz.isLeader, `${baz.status().lastError}`]).toEqual([
      [],
      false,
      expect.stringContaining("TypeError: lock.create() must resolve to the record it has written"),
    ]);
    await stopped(run);
  });

  it("is not free if get resolves to null", async () => {
    const errors: unknown[] = [];
    const baz = elector({ onError: (error) => errors.push(error) });
    lock.failNext(async () => null as never);
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    expect([`${errors}`, lock.calls]).toEqual([
      "TypeError: lock.get() must resolve to a record and its version, got null",
      ["get"],
    ]);
    await stopped(run);
  });
});

describe("the observed leader", () => {
  it("is reported at each change, in order", async () => {
    const leaders: unknown[] = [];
    await write("bing", 0);
    const baz = elector({ onNewLeader: (leader) => leaders.push(leader) });
    const run = baz.run(stop.signal);
    await clock.step(2_000);
    await write("bing", 0);
    await clock.step(2_000);
    expect([leaders, baz.leader]).toEqual([["bing"], "bing"]);
    await write("bong", 1);
    await clock.step(2_000);
    await write("", 1);
    await clock.step(2_000);
    expect(leaders).toEqual(["bing", "bong", undefined, "baz"]);
    await stopped(run);
  });

  it("shows how long the work has been stopping, under a lease that it renews", async () => {
    const baz = elector({ lead: () => new Promise(() => {}) });
    void baz.run(stop.signal);
    await clock.step(1_000);
    expect(baz.status()).toMatchObject({ state: "leading", stoppingFor: 0, overdue: 0 });
    stop.abort();
    await clock.step(60_000);
    expect(baz.status()).toEqual({
      state: "stopping",
      identity: "baz",
      leader: "baz",
      token: 0,
      sinceAnswer: 1_000,
      stoppingFor: 60_000,
      overdue: 0,
      lastError: undefined,
    });
  });

  it("shows how long the work has outlived a lease that was lost during the stop", async () => {
    const baz = elector({ lead: () => new Promise(() => {}) });
    void baz.run(stop.signal);
    await clock.step(1_000);
    stop.abort();
    await clock.step(1_000);
    lock.failAll(hang);
    // The last renewal was at 2 s: the deadline is at 12 s, the end of the lease at 17 s.
    await clock.step(15_000);
    const lost = { state: "stopping", token: 0, stoppingFor: 16_000, overdue: 0 };
    expect([baz.isLeader, baz.status()]).toMatchObject([false, lost]);
    await clock.step(5_000);
    expect(baz.status()).toMatchObject({ stoppingFor: 21_000, overdue: 5_000 });
  });

  it("shows no token and no overdue work while the lease is released", async () => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await clock.step(1_000);
    lock.failAll(hang);
    stop.abort();
    await clock.step(4_999);
    const releasing = { state: "stopping", token: undefined, stoppingFor: 0, overdue: 0 };
    expect([baz.isLeader, baz.status()]).toMatchObject([false, releasing]);
    await clock.step(1);
    await stopped(run);
    expect(baz.status().state).toBe("idle");
  });

  it("refuses to run twice at once", async () => {
    const baz = elector();
    const run = baz.run(stop.signal);
    await expect(baz.run(stop.signal)).rejects.toThrow("elector is already running");
    await stopped(run);
  });
});

it("says that the I/O of a lock needs clock.external() on a fake clock", async () => {
  const clock = new FakeClock();
  const lock = new MemoryLock();
  lock.get = () => new Promise(() => {});
  const errors: string[] = [];
  const stop = new AbortController();
  const onError = (error: unknown): void => void errors.push(String(error));
  const running = new LeaderElector({ lock, identity: "a", clock, lead: () => {}, onError }).run(
    stop.signal,
  );
  await clock.step(10_000);
  stop.abort();
  await clock.run(() => running);
  expect(errors[0]).toBe(
    "TimeoutError: timed out after 5000 ms; on a fake clock, wrap the I/O of the lock in clock.external()",
  );
});
