import {
  ExplorationError,
  type ExploreOptions,
  explore,
  type ProgramContext,
} from "@holdfast/explore";
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

  it("makes steps of what a class makes, of a list and of an iterator without return", async () => {
    class Client {
      readonly [Symbol.toStringTag] = "a client";
      readonly parts: readonly { send(id: string): Promise<void> }[];
      readonly #rows: Set<string>;

      constructor(rows: Set<string>) {
        this.#rows = rows;
        this.parts = [{ send: async (id: string) => void this.#rows.add(id) }];
      }

      *[Symbol.iterator]() {
        yield* this.#rows;
      }

      readonly pages = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false as const, value: this.parts[0] }),
        }),
        next: () => {}, // a symbol alone makes no linked system
      };
    }
    const { steps } = await exploring(async ({ world, link, signal }) => {
      const library = link({ Client }, "library");
      const client = new library.Client(world.rows);
      const again = async (call: () => Promise<unknown>) => await call().catch(call);
      await again(async () => await client.parts[0]?.send("a"));
      await again(async () => {
        for await (const page of client.pages) {
          await page?.send("b");
          break;
        }
      });
      const { [Symbol.toStringTag]: tag } = client;
      expect([client.constructor, tag, ...client]).toEqual([Client, "a client", "a", "b"]);
      await rest(signal);
    });
    expect(steps).toEqual([
      'library.Client.parts[0].send("a")',
      "library.Client.pages.next()",
      'library.Client.parts[0].send("b")',
    ]);
  });

  it("takes what a method throws at once for the outcome of its step", async () => {
    const problem = await exploring(async ({ link }) => {
      const refuse = (): Promise<void> => {
        throw new Error("no such account");
      };
      await link({ refuse }, "bank").refuse();
    }).catch((error: Error) => error.message);
    expect(problem).toContain("replica 1  bank.refuse() → no such account\n");
    expect(problem).toContain("the program failed: no such account");
  });

  it("awaits each call once, also one that fails or that runs when it is awaited", async () => {
    let queries = 0;
    const refused = new Error("refused");
    const seen: unknown[] = [];
    const { steps } = await exploring(
      async ({ world, link, signal }) => {
        const table = link(
          {
            insert: async () => void world.rows.add("a"),
            refuse: () => Promise.reject(refused),
            // biome-ignore lint/suspicious/noThenProperty: a query as query builders make it
            select: () => ({ then: (end: (rows: number) => void) => end(++queries) }),
          },
          "table",
        );
        await table.insert().catch(() => {});
        seen.push(await table.refuse().catch((error: unknown) => error === refused));
        seen.push(await table.select());
        await rest(signal);
      },
      { worlds: 1, expect: () => {}, without: ["crash-before"] },
    );
    expect(steps).toEqual(["table.insert()", "table.refuse()", "table.select()"]);
    expect(seen.slice(0, 4)).toEqual([true, 1, true, 2]);
  });

  it("makes no step of what the language calls for a text or JSON", async () => {
    class Named extends Sdk {
      readonly #name = "bank";
      override toString = () => `the ${this.#name}`;
      toJSON() {
        return { name: this.#name };
      }
    }
    const { steps } = await exploring(
      async ({ world, link, signal }) => {
        const sdk = link(world, "sdk");
        const { payments } = link(world, "other");
        const texts = [
          `${sdk}`,
          JSON.stringify(sdk),
          `${payments}`,
          Object.hasOwn(payments, "create"),
        ];
        expect(texts).toEqual(["the bank", '{"name":"bank"}', "[object Object]", true]);
        await sdk.payments.create("a").catch(() => sdk.payments.create("a"));
        await rest(signal);
      },
      { world: () => new Named() },
    );
    expect(new Set(steps)).toEqual(new Set(['sdk.payments.create("a")']));
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
    expect(await failing("a text" as never)).toContain("with methods or a function, got a text;");
    expect(await failing(Object.create(null) as object)).toContain(
      "with methods or a function, got a value without methods;",
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

  it("is named if the second run stops earlier, or goes on", async () => {
    const shorter = async (is: (run: number) => boolean): Promise<unknown> => {
      let runs = 0;
      return await exploring(async ({ world, link, signal }) => {
        runs += 1;
        const sdk = link(world, "sdk");
        await sdk.payments.create("a");
        if (is(runs)) await sdk.payments.create("a");
        await rest(signal);
      }).catch((error: Error) => error.message);
    };
    // A run without a fault starts the program twice.
    expect(await shorter((run) => run === 2)).toMatch(
      /differ at step 3: sdk\.payments\.create at \d+ ms; no step\n/,
    );
    expect(await shorter((run) => run === 4)).toMatch(
      /differ at step 3: no step; sdk\.payments\.create at \d+ ms\n/,
    );
  });

  it.each([
    ["another number of rows", (rows: string[], half: number) => rows.slice(half), "the state"],
    [
      "another number of parts",
      (rows: string[], half: number) => ({ of: { rows: rows.slice(half) } }),
      "of.rows",
    ],
    [
      "names that have nothing in common",
      (rows: string[], half: number) => ({ [["x", "y"][half] as string]: rows }),
      "x",
    ],
  ])("that leads to %s cannot be compared", async (_, stateOf, path) => {
    const half = new WeakMap<Sdk, number>();
    const problem = await exploring(
      async ({ world, link, signal }) => {
        const sdk = link(world, "sdk");
        await sdk.payments.create("a").catch(() => {});
        await rest(signal);
      },
      {
        world: ({ random }) => {
          const sdk = new Sdk();
          half.set(sdk, Math.floor(random() * 2));
          return sdk;
        },
        stateOf: (sdk) => stateOf([...sdk.rows], half.get(sdk) as number),
      },
    ).catch((error: Error) => error.message);
    expect(problem).toContain(
      `another seed leads to another state: ${path}\n  leave it out by options.normalise or stateOf, or judge it by options.expect`,
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
      { without: ["call-failed"] },
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
    await expect(exploring(run, { without: ["crash-aftr"] })).rejects.toThrow(
      /^options\.without\[0\] must be one of crash-before, .*, got "crash-aftr"$/,
    );
  });

  it("is the list without under its old name", async () => {
    const old: object = { faults: ["call-failed"] };
    await expect(exploring(run, old)).rejects.toThrow(
      "options.faults is not an option of explore; did you mean options.without?",
    );
  });

  it("is an option expect of another kind, or a list without of every fault", async () => {
    await expect(exploring(run, { expect: "equal" as never })).rejects.toThrow(
      new TypeError('options.expect must be "same" or a function, got "equal"'),
    );
    const { faults } = await exploring(run, { expect: () => {} });
    await expect(exploring(run, { without: Object.keys(faults) })).rejects.toThrow(
      "no world was run: options.without leaves out every fault",
    );
  });

  it("is a scenario that never ends", async () => {
    await expect(exploring(run, { scenario: () => new Promise(() => {}) })).rejects.toThrow(
      "the test is wrong without any fault\n  the scenario never ends",
    );
  });
});
