import type { Clock } from "@holdfast/clock";
import { Controller, silentLogger } from "@holdfast/controller";
import { ExplorationError, explore, type ProgramContext } from "@holdfast/explore";
import { describe, expect, it, vi } from "vitest";

/** A bank outside of the program. Every call takes 10 ms. */
class Bank {
  readonly orders = new Map<string, number>();
  readonly closed = new Set<string>();
  readonly paid = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async open(): Promise<string[]> {
    await this.#clock.sleep(10);
    return [...this.orders.keys()].filter((id) => !this.closed.has(id));
  }

  async close(id: string): Promise<void> {
    await this.#clock.sleep(10);
    this.closed.add(id);
  }

  /** Adds to what was paid: a repeated call pays twice. */
  async pay(id: string): Promise<void> {
    await this.#clock.sleep(10);
    this.paid.set(id, (this.paid.get(id) ?? 0) + (this.orders.get(id) ?? 0));
  }

  /** Sets what was paid: a repeated call changes nothing. */
  async settle(id: string): Promise<void> {
    await this.#clock.sleep(10);
    this.paid.set(id, this.orders.get(id) ?? 0);
  }
}

/** Pays each open order, then closes it. Looks for orders every minute. */
function payer(method: "pay" | "settle") {
  return async ({ world, link, clock, random, signal }: ProgramContext<Bank>): Promise<void> => {
    const bank = link(world, "bank");
    const controller = new Controller<string>({
      name: "payer",
      clock,
      random,
      logger: silentLogger,
      async reconcile() {
        for (const id of await bank.open()) {
          await bank[method](id);
          await bank.close(id);
        }
        return { requeueAfter: 60_000 };
      },
    });
    controller.add("orders");
    await controller.run(signal);
  };
}

const options = {
  world: ({ clock }: { clock: Clock }) => new Bank(clock),
  async scenario({ world, clock }: { world: Bank; clock: Clock }) {
    world.orders.set("a", 5);
    await clock.sleep(90_000);
    world.orders.set("b", 7);
  },
  stateOf: ({ paid }: Bank): unknown => paid,
};

async function failureOf(work: Promise<unknown>): Promise<ExplorationError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ExplorationError) return error;
  throw error ?? new Error("nothing was found");
}

describe("explore", () => {
  it("finds nothing in a program that may be cut anywhere", async () => {
    const report = await explore({ ...options, run: payer("settle") });
    expect(report).toMatchObject({ planned: report.worlds - 100, notRun: {} });
    expect(Object.keys(report.faults).sort()).toEqual([
      ...["call-failed", "crash-after", "crash-after-down", "crash-before", "crash-before-down"],
      ...["hand-over", "response-lost"],
    ]);
  });

  it("names the step at which a crash makes a difference", async () => {
    const error = await failureOf(explore({ ...options, run: payer("pay") }));
    expect(error.message).toContain('crash after step 2, bank.pay("a")\n  a: expected 5, got 10\n');
  });
});

describe("an exploration with its defaults", () => {
  /** Asks once more after a failure, and not again after that of the second. */
  const asking =
    (attempts: number) =>
    async ({ link, world, signal, clock }: ProgramContext<Map<string, number>>): Promise<void> => {
      const set = link(async () => void world.set("a", 1), "set");
      for (let left = attempts; left > 0; left -= 1) {
        const isSet = await set().then(
          () => true,
          () => false,
        );
        if (isSet) break;
      }
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
    };
  const asked = {
    world: () => new Map<string, number>(),
    scenario: async () => {},
    stateOf: (world: Map<string, number>) => world,
  };

  it("runs every world, whatever time it takes", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 3_600_000;
      return now;
    });
    const { notRun, worlds, planned } = await explore({ ...asked, run: asking(3) });
    vi.restoreAllMocks();
    expect(notRun).toEqual({});
    expect(worlds).toBe(planned + 100);
  });

  it("finds a bug behind a second fault", async () => {
    const error = await failureOf(explore({ ...asked, run: asking(2) }));
    expect(error.only).toBe("call-failed:1+call-failed:2");
  });

  it("finds a call whose failure the next one heals, unless it fails too", async () => {
    const run = async ({ link, world, signal, clock }: ProgramContext<Map<string, number>>) => {
      const set = link(async () => void world.set("a", 1), "set");
      const look = link(async () => {}, "look");
      await set().catch(() => {});
      for (let left = 10; left > 0; left -= 1) await look().catch(() => {});
      await set().catch(() => {});
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
    };
    const error = await failureOf(explore({ ...asked, run }));
    expect(error.only).toBe("call-failed:1+call-failed:12");
  });

  it("accepts reconciles that write nothing, and accuses a program without any", async () => {
    const idling = (isWoken: boolean) =>
      explore({
        ...asked,
        async run({ watch, step, signal, clock }) {
          await step({ text: "list", reads: true }, async () => {});
          if (isWoken) await watch("idle", () => {})({ key: "a", signal });
          await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        },
      });
    expect((await idling(true)).notRun).toEqual({});
    expect((await failureOf(idling(false))).message).toContain(
      "the program does nothing: it has no reconcile, no write and no call of a linked system",
    );
  });
});

describe("an exploration with a limit", () => {
  const warned: object[] = [];
  const logger = { ...silentLogger, warn: (details: object) => void warned.push(details) };
  const settling = { ...options, run: payer("settle") };

  it("runs one world after its time, and says which were not run", async () => {
    const whole = await explore({ ...settling, pairs: 3 });
    expect(whole.notRun).toEqual({});
    const { worlds, planned, faults, notRun } = await explore({
      ...{ ...settling, logger, pairs: 3 },
      time: Number.MIN_VALUE,
    });
    expect(worlds).toBe(1);
    expect(warned).toEqual([{ worlds, notRun }]);
    const { pairs, ...singles } = notRun;
    expect(pairs).toBe(3);
    expect(Object.keys(singles).sort()).toEqual(Object.keys(whole.faults).sort());
    const counts = [...Object.values(singles), ...Object.values(faults)];
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(planned);
  });

  it("has a world of each type of fault before a second one of any", async () => {
    const { faults, notRun, planned } = await explore({ ...settling, worlds: 7 });
    expect(new Set(Object.values(faults))).toEqual(new Set([1]));
    expect(Object.keys(faults)).toHaveLength(7);
    const left = Object.values(notRun).reduce((sum, count) => sum + count, 0);
    expect(left).toBe(planned - 7);
  });

  it("rejects with signal.reason when aborted in a world, and leaves no listener", async () => {
    const reason = new Error("enough");
    const early = explore({ ...settling, signal: AbortSignal.abort(reason) });
    await expect(early).rejects.toBe(reason);
    const stop = new AbortController();
    const listeners = vi.spyOn(stop.signal, "removeEventListener");
    const added = vi.spyOn(stop.signal, "addEventListener");
    const lives: AbortSignal[] = [];
    let [worlds, ticks] = [0, 0];
    const scenario = async ({ clock }: { readonly clock: Clock }): Promise<void> => {
      worlds += 1;
      if (worlds < 5) return;
      stop.abort(reason);
      for (;;) {
        await clock.sleep(1_000);
        ticks += 1;
      }
    };
    const program = async ({ link, signal, clock, crashed }: ProgramContext<{ done: number }>) => {
      lives.push(crashed);
      await link(async () => {}, "call")();
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
    };
    const work = explore<{ done: number }, number>({
      ...{ scenario, signal: stop.signal, run: program, stateOf: ({ done }) => done },
      world: () => ({ done: 1 }),
    });
    await expect(work).rejects.toBe(reason);
    expect([worlds, ticks, lives.at(-1)?.aborted]).toEqual([5, 0, true]);
    expect(added.mock.calls.length).toBeLessThanOrEqual(listeners.mock.calls.length + 1);
  });
});
