import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  isLeadershipLostError,
  LeaderElector,
  type LeaderElectorOptions,
  type Leadership,
  type Logger,
  MemoryLock,
  silentLogger,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { hang, RecordingLock, refuse } from "./recording-lock.ts";
import { overlapsIn, type WorkEvent } from "./work-log.ts";

let clock: FakeClock;
let start: number;
let shared: MemoryLock;
let events: [number, string][];
let log: WorkEvent[];
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  shared = new MemoryLock();
  events = [];
  log = [];
  stop = new AbortController();
});

const { signal: never } = new AbortController();
const since = () => events.splice(0);

function note(text: string): void {
  events.push([clock.monotonic() - start, text]);
}

/** Leases of 15 s, deadlines of 10 s, a request every 2 s, without jitter. */
function elector(lock: RecordingLock, options: Partial<LeaderElectorOptions> = {}): LeaderElector {
  const identity = "a";
  const defaults = { identity, lead: work, clock, random: () => 0, logger: silentLogger };
  return new LeaderElector({ ...defaults, lock, ...options });
}

/** Works until its signal aborts, drains for 18 s or until the lease is lost, and notes all that. */
async function work({ signal, lost }: Leadership): Promise<void> {
  onAbort(signal, (error) => note(`signal: ${(error as Error).message}`));
  onAbort(lost, (error) => note(`lost: ${(error as Error).message}`));
  note("leads");
  await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
  await clock.sleep(18_000, { signal: lost }).catch(() => {});
  note("settles");
}

/** Works on six keys of 3 s, one after another; goes on after a stop, and drops everything on a loss. */
function sixKeys(worker: string): LeaderElectorOptions["lead"] {
  return async ({ lost }) => {
    for (let number = 1; number <= 6 && !lost.aborted; number++) {
      log.push({ worker, event: "begin", key: `${number}` });
      await clock.sleep(3_000, { signal: lost }).catch(() => {});
      log.push({ worker, event: "end", key: `${number}` });
    }
    note(`${worker} settles`);
  };
}

const reason = new Error("SIGTERM");

describe("a leader that stops", () => {
  it("renews for a drain of 18 s on a lease of 15 s, and then hands over", async () => {
    const lead = (identity: string) => async (leadership: Leadership) => {
      note(`${identity} leads`);
      await work(leadership);
    };
    const a = elector(new RecordingLock(shared), { lead: lead("a") });
    const b = elector(new RecordingLock(shared), { identity: "b", lead: lead("b") });
    const stopA = new AbortController();
    const runA = a.run(stopA.signal);
    await clock.step(1_500);
    const runB = b.run(stop.signal);
    await clock.step(3_500);
    stopA.abort(reason);
    await clock.step(17_999);
    expect(since()).toEqual([
      [0, "a leads"],
      [0, "leads"],
      [5_000, "signal: SIGTERM"],
    ]);
    expect([a.isLeader, a.status().state, b.isLeader]).toEqual([true, "stopping", false]);
    await clock.step(1);
    await runA;
    expect([since(), a.isLeader]).toEqual([[[23_000, "settles"]], false]);
    expect((await shared.get(never))?.record.holder).toBe("");
    await clock.step(2_000);
    expect(since()).toEqual([
      [23_500, "b leads"],
      [23_500, "leads"],
    ]);
    stop.abort(reason);
    await clock.step(18_000);
    await runB;
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("renews after resign() too, and then rests for one lease", async () => {
    const lock = new RecordingLock(shared);
    const a = elector(lock);
    const run = a.run(stop.signal);
    await clock.step(5_000);
    since();
    const resigned = a.resign().then(() => note("resigned"));
    await clock.step(17_999);
    expect([since(), a.isLeader]).toEqual([[[5_000, "signal: the leader resigned"]], true]);
    await clock.step(1);
    await resigned;
    expect(since()).toEqual([
      [23_000, "settles"],
      [23_000, "resigned"],
    ]);
    await clock.step(15_000);
    expect(since()).toEqual([[38_000, "leads"]]);
    stop.abort(reason);
    await clock.step(18_000);
    await run;
    expect(clock.waiters()).toBe(0);
  });

  it("stops renewing once its work has settled", async () => {
    const lock = new RecordingLock(shared);
    const run = elector(lock).run(stop.signal);
    await clock.step(1_000);
    stop.abort(reason);
    await clock.step(18_000);
    await run;
    // Two requests to acquire, a renewal at 0, 2, … 18 s, two requests to release at 19 s.
    expect(lock.calls.slice(0, 2)).toEqual(["get", "create"]);
    expect(lock.calls.slice(2, -2)).toEqual(new Array(10).fill("update"));
    expect(lock.calls.slice(-2)).toEqual(["get", "update"]);
    await clock.step(60_000);
    expect(lock.calls).toHaveLength(14);
  });

  it.each([
    ["refuses", refuse],
    ["hangs", hang],
  ])("loses the lease at the renew deadline if the lock %s", async (_, fault) => {
    const lock = new RecordingLock(shared);
    const a = elector(lock);
    const run = a.run(stop.signal);
    await clock.step(5_000);
    stop.abort(reason);
    since();
    lock.failAll(fault);
    await clock.step(8_999.999);
    expect([since(), a.isLeader]).toEqual([[], true]);
    await clock.step(0.001);
    await run;
    expect([since(), a.isLeader]).toEqual([
      [
        [14_000, "lost: the lease was not renewed in time"],
        [14_000, "settles"],
      ],
      false,
    ]);
    // The lease runs out by itself.
    expect((await shared.get(never))?.record.holder).toBe("a");
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("loses the lease as soon as a renewal shows another holder", async () => {
    const a = elector(new RecordingLock(shared));
    const run = a.run(stop.signal);
    await clock.step(5_000);
    stop.abort(reason);
    since();
    const { record, version } = (await shared.get(never)) ?? expect.fail();
    await shared.update({ ...record, holder: "b", transitions: 1 }, version, never);
    await clock.step(999);
    expect(since()).toEqual([]);
    await clock.step(1);
    await run;
    expect(since()).toEqual([
      [6_000, "lost: another process holds the lease"],
      [6_000, "settles"],
    ]);
    expect((await shared.get(never))?.record.holder).toBe("b");
  });

  it.each([
    ["5 s without a limit", undefined, 5_000],
    ["half of the time that a stop has left", () => 3_000, 1_500],
    ["a millisecond if no time is left", () => 0, 1],
    ["5 s if the time cannot be read", () => Number.NaN, 5_000],
  ])("tries to release for %s", async (_, stopWithin, time) => {
    const lock = new RecordingLock(shared);
    const errors: unknown[] = [];
    const lead = ({ signal }: Leadership) =>
      clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
    const a = elector(lock, { lead, onError: (error) => void errors.push(error) });
    const run = a.run(stop.signal, { stopWithin });
    await clock.step(5_000);
    lock.failAll(refuse);
    stop.abort(reason);
    let isOver = false;
    void run.then(() => {
      isOver = true;
    });
    await clock.step(time - 1);
    expect(isOver).toBe(false);
    await clock.step(1);
    expect(isOver).toBe(true);
    const told = errors.filter((error) => String(error).includes("options.stopWithin()"));
    expect(told).toHaveLength(Number.isNaN(stopWithin?.()) ? 1 : 0);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("rests for one lease after resign(), even if it loses the lease meanwhile", async () => {
    const lock = new RecordingLock(shared);
    const a = elector(lock);
    const run = a.run(stop.signal);
    await clock.step(5_000);
    const resigned = a.resign();
    lock.failAll(refuse);
    await clock.step(9_000);
    await resigned;
    since();
    lock.failAll(undefined);
    await clock.step(14_999);
    expect(since()).toEqual([]);
    await clock.step(1);
    expect(since()).toEqual([[29_000, "leads"]]);
    stop.abort(reason);
    await clock.step(18_000);
    await run;
  });

  it("may reject with the reason of lost", async () => {
    const lock = new RecordingLock(shared);
    const lead = ({ lost }: Leadership) => clock.sleep(Number.POSITIVE_INFINITY, { signal: lost });
    const run = elector(lock, { lead }).run(stop.signal);
    await clock.step(1_000);
    stop.abort(reason);
    lock.failAll(refuse);
    await clock.step(9_000);
    await expect(run).resolves.toBeUndefined();
  });
});

describe("lost", () => {
  it("aborts before signal, with the same error, when a leader loses the lease", async () => {
    const lock = new RecordingLock(shared);
    let seen: Leadership | undefined;
    const lead = async (leadership: Leadership): Promise<void> => {
      seen ??= leadership;
      await work(leadership);
    };
    const run = elector(lock, { lead, once: true }).run(stop.signal);
    await clock.step(1_000);
    lock.failAll(refuse);
    await clock.step(9_000);
    await run;
    expect(since()).toEqual([
      [0, "leads"],
      [10_000, "lost: the lease was not renewed in time"],
      [10_000, "signal: the lease was not renewed in time"],
      [10_000, "settles"],
    ]);
    expect(seen?.lost.reason).toSatisfy(isLeadershipLostError);
    expect(seen?.signal.reason).toBe(seen?.lost.reason);
  });

  it("never aborts when the work settles by itself, though signal does", async () => {
    let seen: Leadership | undefined;
    const lead = (leadership: Leadership): void => {
      seen = leadership;
    };
    const lock = new RecordingLock(shared);
    await elector(lock, { lead, once: true }).run(stop.signal);
    lock.failAll(refuse);
    await clock.step(60_000);
    expect([seen?.signal.aborted, seen?.lost.aborted]).toEqual([true, false]);
  });

  it("keeps two electors from working at once while the lock is away from the one that drains", async () => {
    for (const fault of [refuse, hang]) {
      log = [];
      const away = new RecordingLock(shared);
      const stopA = new AbortController();
      const a = elector(away, { lead: sixKeys("a") });
      const runA = a.run(stopA.signal);
      await clock.step(1_000);
      const b = elector(new RecordingLock(shared), { identity: "b", lead: sixKeys("b") });
      const stopB = new AbortController();
      const runB = b.run(stopB.signal);
      await clock.step(4_000);
      stopA.abort(reason);
      away.failAll(fault);
      await clock.step(16_000);
      await runA;
      // The last renewal was at 4 s: a drops its fifth key at 14 s, b leads from 19 s.
      expect(log.slice(-3)).toEqual([
        { worker: "a", event: "begin", key: "5" },
        { worker: "a", event: "end", key: "5" },
        { worker: "b", event: "begin", key: "1" },
      ]);
      expect(overlapsIn(log)).toEqual([]);
      stopB.abort(reason);
      await clock.step(20_000);
      await runB;
      expect([clock.waiters(), abortListeners(stopA.signal)]).toEqual([0, 0]);
    }
  });
});

describe("errors of the lock without onError", () => {
  function recordingLogger(): { readonly lines: unknown[]; readonly logger: Logger } {
    const lines: unknown[] = [];
    const to = (level: string) => (details: object, message: string) =>
      void lines.push([level, message, details]);
    return {
      lines,
      logger: { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") },
    };
  }
  const facts = { identity: "a", lock: "recording" };

  it("are logged as a warning, the same one once a minute", async () => {
    const { lines, logger } = recordingLogger();
    const lock = new RecordingLock(shared);
    const err = new Error("refused");
    lock.failNext(refuse, refuse);
    const run = elector(lock, { logger }).run(stop.signal);
    await clock.step(5_000);
    lock.failNext(refuse);
    await clock.step(55_000);
    lock.failNext(refuse);
    await clock.step(2_000);
    const failed = "request to the lock failed: refused";
    expect(lines).toEqual([
      ["warn", failed, { ...facts, err }],
      ["debug", failed, { ...facts, err }],
      ["info", "leadership acquired", { ...facts, token: 0 }],
      ["debug", failed, { ...facts, err }],
      ["warn", failed, { ...facts, err, count: 3 }],
    ]);
    stop.abort(reason);
    await clock.step(18_000);
    await run;
    expect(lines.slice(5)).toEqual([["info", "lease released", facts]]);
  });

  it("are not logged with onError, except a lost lease", async () => {
    const { lines, logger } = recordingLogger();
    const lock = new RecordingLock(shared);
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const run = elector(lock, { logger, onError, once: true }).run(stop.signal);
    await clock.step(1_000);
    lock.failAll(refuse);
    await clock.step(9_000);
    await run;
    expect(errors.length).toBeGreaterThan(2);
    expect(lines).toEqual([
      ["info", "leadership acquired", { ...facts, token: 0 }],
      ["warn", "leadership lost: the lease was not renewed in time", { ...facts, token: 0 }],
    ]);
  });

  it("are logged by a logger whose own errors change nothing", async () => {
    const broken = (): never => {
      throw new Error("disk full");
    };
    const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken };
    const lock = new RecordingLock(shared);
    const own = elector(lock, { logger });
    const run = own.run(stop.signal);
    await clock.step(1_000);
    lock.failNext(refuse);
    await clock.step(20_000);
    expect(own.isLeader).toBe(true);
    stop.abort();
    await clock.step(20_000);
    await run;
    expect((await shared.get(never))?.record.holder).toBe("");
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });
});

it("detects two leaders", () => {
  const piece = (worker: string, event: "begin" | "end", key: string) => ({ worker, event, key });
  const ofA = [piece("a", "begin", "1"), piece("a", "begin", "2"), piece("a", "end", "1")];
  expect(overlapsIn(ofA)).toEqual([]);
  expect(overlapsIn([...ofA, piece("b", "begin", "3")])).toEqual(["b 3 begins during a 2"]);
  expect(overlapsIn([...ofA, piece("a", "end", "2"), piece("b", "begin", "3")])).toEqual([]);
});
