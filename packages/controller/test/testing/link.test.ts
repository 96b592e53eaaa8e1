import {
  ExplorationError,
  type ExploreOptions,
  explore,
  type ProgramContext,
} from "@holdfast/controller/testing";
import { describe, expect, it } from "vitest";

/** The SDK of a bank: parts within parts, a method that makes a part, and one that returns one. */
class Sdk {
  readonly rows = new Set<string>();
  readonly payments = { create: async (id: string) => void this.rows.add(`paid ${id}`) };

  collection(name: string) {
    return { insert: async (id: string) => void this.rows.add(`${name} ${id}`) };
  }

  async connect() {
    return { send: async (id: string) => void this.rows.add(`sent ${id}`) };
  }

  /** A part that has no methods of its own, but parts that have. */
  readonly rest = { issues: this.payments };

  /** Such a part, made by a method. */
  open(name: string) {
    return { name, records: this.collection(name) };
  }

  async all() {
    return [this.collection("each")];
  }

  async *pages() {
    yield this.collection("page");
    yield this.collection("page");
  }
}

const rest = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

type Program = (context: ProgramContext<Sdk>) => Promise<unknown>;

const exploring = (run: Program, more: Partial<ExploreOptions<Sdk>> = {}) =>
  explore<Sdk, unknown>({
    world: () => new Sdk(),
    run,
    scenario: async () => {},
    stateOf: ({ rows }) => [...rows].sort(),
    ...more,
  });

describe("link", () => {
  it("makes steps of nested parts, and of what methods return", async () => {
    const { steps } = await exploring(async ({ world, link, signal }) => {
      const sdk = link(world, "sdk");
      const again = async (call: () => Promise<unknown>) => await call().catch(call);
      await again(() => sdk.payments.create("a"));
      await again(() => sdk.collection("rows").insert("a"));
      await again(async () => await (await sdk.connect()).send("a"));
      await rest(signal);
    });
    expect(steps).toEqual([
      'sdk.payments.create("a")',
      'sdk.collection("rows").insert("a")',
      "sdk.connect()",
      'sdk.connect().send("a")',
    ]);
  });

  it("makes steps of parts without methods, of lists and of each item of an async iterable", async () => {
    const { steps } = await exploring(async ({ world, link, signal }) => {
      const sdk = link(world, "sdk");
      const again = async (call: () => Promise<unknown>) => await call().catch(call);
      await again(() => sdk.rest.issues.create("a"));
      await again(() => sdk.open("zone").records.insert("a"));
      const [first] = await sdk.all().catch(() => sdk.all());
      await again(async () => await first?.insert("a"));
      await again(async () => {
        for await (const page of sdk.pages()) await page.insert("a");
      });
      await rest(signal);
    });
    expect(steps).toEqual([
      'sdk.rest.issues.create("a")',
      'sdk.open("zone").records.insert("a")',
      "sdk.all()",
      'sdk.all()[0].insert("a")',
      "sdk.pages().next()",
      'sdk.pages().next().insert("a")',
      "sdk.pages().next()",
      'sdk.pages().next().insert("a")',
      "sdk.pages().next()",
    ]);
  });

  it("takes an object whose parts have the methods, and data with a cycle as it is", async () => {
    const { steps } = await exploring(async ({ world, link, signal }) => {
      const api = link({ rest: { payments: world.payments } }, "api");
      const again = async (call: () => Promise<unknown>) => await call().catch(call);
      await again(() => api.rest.payments.create("a"));
      const row: { self?: object } = {};
      row.self = row;
      const store = link({ get: async () => row }, "store");
      expect(await store.get().catch(() => store.get())).toBe(row);
      await rest(signal);
    });
    expect(steps).toEqual(['api.rest.payments.create("a")', "store.get()"]);
  });

  it("names step for a system that has no methods, and for one that is read-only", async () => {
    const failing = (system: object) =>
      exploring(async ({ link, signal }) => {
        await (link(system, "bank") as { pay(): Promise<void> }).pay();
        await rest(signal);
      }).catch((error: Error) => error.message);
    expect(await failing(new Map())).toContain(
      "link: bank must be an object with methods or a function, got a Map; make a step of each call with `step`",
    );
    expect(await failing(Object.freeze({ pay: async () => {} }))).toContain(
      "link: bank.pay is read-only and cannot be linked; make a step of its calls with `step`",
    );
  });
});

describe("randomness", () => {
  it("is named if a second run with the same seed has another course", async () => {
    let runs = 0;
    const problem = await exploring(async ({ world, link, signal }) => {
      runs += 1;
      const sdk = link(world, "sdk");
      await sdk.payments.create("a");
      if (runs > 2) await sdk.collection("rows").insert("a");
      await rest(signal);
    }).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(ExplorationError);
    expect((problem as Error).message).toContain(
      "the program is not deterministic: two runs with the same seed differ at step",
    );
  });

  it("of the context is not compared", async () => {
    const report = await exploring(
      async ({ world, link, uid, random, signal }) => {
        const sdk = link(world, "sdk");
        if (world.rows.size === 0)
          await sdk.payments.create(`${uid()} ${random()}`).catch(() => {});
        await rest(signal);
      },
      { faults: ["call-failed"] },
    );
    expect(report.masked).toEqual(["state.0"]);
  });
});

describe("a mistake of the test", () => {
  const run: Program = async ({ world, link, signal }) => {
    await link(world, "sdk")
      .payments.create("a")
      .catch(() => {});
    await rest(signal);
  };

  it("is a type of fault that does not exist", async () => {
    await expect(exploring(run, { faults: ["crash-aftr"] })).rejects.toThrow(
      /^options\.faults\[0\] must be one of crash-before, .*, got "crash-aftr"$/,
    );
  });

  it("is a scenario that never ends", async () => {
    await expect(exploring(run, { scenario: () => new Promise(() => {}) })).rejects.toThrow(
      "the test is wrong without any fault\n  the scenario never ends",
    );
  });
});
