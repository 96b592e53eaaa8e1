import { FakeClock } from "@holdfast/clock/testing";
import {
  MemoryLock,
  Shards,
  type ShardsOptions,
  type SlotLeadership,
  silentLogger,
} from "@holdfast/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { JumpingClock } from "../../../../test/jumping-clock.ts";

let clock: FakeClock;
let locks: Map<string, MemoryLock>;
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  locks = new Map();
  stop = new AbortController();
});

function lockOf(name: string): MemoryLock {
  const lock = locks.get(name) ?? new MemoryLock();
  locks.set(name, lock);
  return lock;
}

function replica(identity: string, options: Partial<ShardsOptions> = {}): Shards {
  return new Shards({
    count: 4,
    identity,
    lockOf,
    lead: ({ signal }) => clock.sleep(Number.POSITIVE_INFINITY, { signal }),
    clock,
    random: () => 0,
    logger: silentLogger,
    ...options,
  });
}

const heldBy = (shards: Shards) => shards.status().held;

describe("Shards", () => {
  it("take all slots alone, half beside another, and all again after it has left", async () => {
    const [a, b] = [replica("a"), replica("b")];
    const leave = new AbortController();
    const first = a.run(stop.signal);
    await clock.step(0);
    expect(heldBy(a)).toEqual([0, 1, 2, 3]);
    const second = b.run(leave.signal);
    await clock.step(30_000);
    expect([heldBy(a).length, heldBy(b).length]).toEqual([2, 2]);
    expect([...heldBy(a), ...heldBy(b)].sort()).toEqual([0, 1, 2, 3]);
    expect(b.status()).toMatchObject({ identity: "b", count: 4, free: [], wanted: undefined });
    leave.abort();
    await second;
    await clock.step(4_000);
    expect(heldBy(a)).toEqual([0, 1, 2, 3]);
    stop.abort();
    await first;
    expect([clock.waiters(), abortListeners(stop.signal), abortListeners(leave.signal)]).toEqual([
      0, 0, 0,
    ]);
  });

  it("wait for the work of a slot that they give up, under its lease", async () => {
    const log: string[] = [];
    const lead =
      (who: string): ShardsOptions["lead"] =>
      async ({ slot, token, signal }) => {
        log.push(`${who} begins ${slot} with ${token}`);
        await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        await clock.sleep(7_000);
        log.push(`${who} ends ${slot}`);
      };
    const a = replica("a", { count: 2, lead: lead("a") });
    const b = replica("b", { count: 2, lead: lead("b") });
    const runs = [a.run(stop.signal)];
    await clock.step(0);
    runs.push(b.run(stop.signal));
    await clock.step(60_000);
    const [given] = heldBy(b);
    expect(log).toEqual([
      "a begins 0 with 0",
      "a begins 1 with 0",
      `a ends ${given}`,
      `b begins ${given} with 1`,
    ]);
    stop.abort();
    await clock.step(10_000);
    await Promise.all(runs);
  });

  it("want no slot for which another one has asked while they looked", async () => {
    const slowly = (name: string): MemoryLock => {
      const lock = new MemoryLock();
      const shared = lockOf(name);
      lock.get = async (signal) => {
        const found = await shared.get(signal);
        if (name === "slot-1") await clock.sleep(100);
        return found;
      };
      lock.create = shared.create.bind(shared);
      lock.update = shared.update.bind(shared);
      return lock;
    };
    const [a, b] = [replica("a", { count: 2 }), replica("b", { count: 2 })];
    const slow = replica("c", { count: 2, lockOf: slowly });
    const runs = [a.run(stop.signal)];
    await clock.step(1_000);
    runs.push(slow.run(stop.signal));
    await clock.step(50);
    runs.push(b.run(stop.signal));
    await clock.step(50);
    expect([b.status().wanted, slow.status().wanted]).toEqual([0, undefined]);
    await clock.step(30_000);
    expect([a, b, slow].map(heldBy)).toEqual([[1], [0], []]);
    stop.abort();
    await clock.run(() => Promise.all(runs));
  });

  it("take the slots of one that has crashed when its leases have run out", async () => {
    let hasCrashed = false;
    const unreachable = (name: string): MemoryLock => {
      const lock = new MemoryLock();
      for (const call of ["get", "create", "update"] as const)
        Object.assign(lock, {
          [call]: (...args: never[]) =>
            hasCrashed
              ? new Promise(() => {})
              : Reflect.apply(lockOf(name)[call], lockOf(name), args),
        });
      return lock;
    };
    const lead = () => new Promise(() => {});
    void replica("b", { lockOf: unreachable, lead }).run(new AbortController().signal);
    await clock.step(0);
    hasCrashed = true;
    const a = replica("a");
    const running = a.run(stop.signal);
    await clock.step(14_999);
    expect(heldBy(a)).toEqual([]);
    await clock.step(15_000 + 2 * 2_400 - 14_999);
    expect(heldBy(a)).toEqual([0, 1, 2, 3]);
    stop.abort();
    await running;
  });

  it("refuse a number of slots that is not that of the replicas that run", async () => {
    const running = replica("a").run(stop.signal);
    await clock.step(0);
    const other = replica("b", { count: 8 });
    const error = errorOf(other.run(stop.signal));
    await clock.step(8_000);
    expect(String(await error)).toBe(
      "RangeError: options.count must be 4, as in the replicas that run, got 8",
    );
    expect(heldBy(other)).toEqual([]);
    stop.abort();
    await running;
  });

  it("accept another number when the lease of those that have stopped has run out", async () => {
    const running = replica("a").run(stop.signal);
    await clock.step(1_000);
    stop.abort();
    await running;
    const next = new AbortController();
    const other = replica("b", { count: 8 });
    const again = errorOf(other.run(next.signal));
    await clock.step(14_999);
    expect(heldBy(other)).toHaveLength(0);
    await clock.step(2_000);
    expect(heldBy(other)).toHaveLength(8);
    next.abort();
    await again;
  });

  it("rest for a lease after work that ends by itself, and reject with its error", async () => {
    const begun: number[] = [];
    const lead = () => void begun.push(clock.monotonic());
    const start = clock.monotonic();
    const running = replica("a", { count: 1, lead }).run(stop.signal);
    await clock.step(40_000);
    stop.abort();
    await running;
    const [first = 0, second = 0] = begun;
    expect([first - start, second - first >= 15_000]).toEqual([0, true]);
    expect(begun.length).toBe(3);

    const failing = replica("b", {
      count: 1,
      lead: () => {
        throw new Error("no database");
      },
    });
    const error = errorOf(failing.run(new AbortController().signal));
    await clock.step(1_000);
    expect(String(await error)).toBe("Error: no database");
  });

  it("lose their slots when the locks do not answer, and say so", async () => {
    let isDown = false;
    const errors: unknown[] = [];
    const lost: number[] = [];
    const lockWithFaults = (name: string): MemoryLock => {
      const lock = lockOf(name);
      const { update } = lock;
      lock.update = async (...args) => {
        if (isDown) throw new Error("down");
        return await update.apply(lock, args);
      };
      return lock;
    };
    const a = replica("a", {
      count: 2,
      lockOf: lockWithFaults,
      onError: (error) => errors.push(error),
      lead: async ({ slot, signal, lost: isLost }) => {
        await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        if (isLost.aborted) lost.push(slot);
      },
    });
    const running = a.run(stop.signal);
    await clock.step(2_000);
    isDown = true;
    await clock.step(9_999);
    expect([heldBy(a), lost]).toEqual([[0, 1], []]);
    await clock.step(1);
    expect([heldBy(a), lost]).toEqual([[], [0, 1]]);
    expect(String(a.status().lastError)).toBe("Error: down");
    isDown = false;
    await clock.step(10_000);
    expect(heldBy(a)).toEqual([0, 1]);
    stop.abort();
    await running;
  });

  it("release a slot whose lease comes after the stop", async () => {
    const slow = lockOf("slot-2");
    const { create } = slow;
    slow.create = async (...args) => {
      const written = await create.apply(slow, args);
      await clock.sleep(100);
      return written;
    };
    const begun: number[] = [];
    const lead = ({ slot }: SlotLeadership): void => void begun.push(slot);
    const running = replica("a", { lead }).run(stop.signal);
    await clock.step(50);
    expect((await slow.get(stop.signal))?.record.holder).toBe("a");
    stop.abort();
    await running;
    expect(begun.sort()).toEqual([0, 1, 3]);
    expect((await slow.get(new AbortController().signal))?.record.holder).toBe("");
  });

  it("begin no work under a lease that came too late, and release it", async () => {
    const jumping = new JumpingClock(clock);
    const slow = lockOf("slot-0");
    const { create } = slow;
    slow.create = async (...args) => {
      jumping.standStill(10_000); // the renew deadline
      return await create.apply(slow, args);
    };
    const tokens: number[] = [];
    const lead: ShardsOptions["lead"] = async ({ token, signal }) => {
      tokens.push(token);
      await jumping.sleep(Number.POSITIVE_INFINITY, { signal });
    };
    const a = replica("a", { count: 1, clock: jumping, lead });
    const running = a.run(stop.signal);
    await clock.step(0);
    expect([heldBy(a), tokens]).toEqual([[], []]);
    expect((await slow.get(stop.signal))?.record.holder).toBe("");
    await clock.step(2_000);
    expect([heldBy(a), tokens]).toEqual([[0], [1]]);
    stop.abort();
    await running;
  });

  describe("with work that has joined", () => {
    const joined = () => replica("a", { count: 1, lead: undefined });

    it("reject with its error, and stop", async () => {
      const a = joined();
      a.join(async () => {
        throw new Error("no database");
      });
      const error = errorOf(a.run(stop.signal));
      await clock.step(1_000);
      expect([String(await error), heldBy(a)]).toEqual(["Error: no database", []]);
    });

    it("take its end by the stop, or by the loss that follows, for no error", async () => {
      const lock = lockOf("slot-0");
      const { update } = lock;
      const ends: string[] = [];
      const a = joined();
      a.join(({ signal }) =>
        clock.sleep(Number.POSITIVE_INFINITY, { signal }).finally(() => ends.push("stopped")),
      );
      a.join(({ lost }) =>
        clock.sleep(Number.POSITIVE_INFINITY, { signal: lost }).finally(() => ends.push("lost")),
      );
      const running = a.run(stop.signal);
      await clock.step(0);
      lock.update = () => Promise.reject(new Error("down"));
      stop.abort(new Error("enough"));
      await clock.step(9_999);
      expect(ends).toEqual(["stopped"]);
      await clock.step(1);
      expect(ends).toEqual(["stopped", "lost"]);
      lock.update = update;
      await running;
      expect(clock.waiters()).toBe(0);
    });
  });

  it("run once at a time", async () => {
    const a = replica("a");
    const running = a.run(stop.signal);
    await expect(a.run(stop.signal)).rejects.toThrow("shards are already running");
    stop.abort();
    await running;
  });
});
