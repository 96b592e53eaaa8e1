import type { Clock } from "@holdfast/clock";
import {
  ExplorationError,
  type ExploreOptions,
  explore,
  type ProgramContext,
} from "@holdfast/explore";
import { describe, expect, it, test } from "vitest";

interface Shelf {
  readonly books: Map<string, number>;
  /** That of the world: it goes on after the crash of a replica. */
  readonly clock: Clock;
}
type Program = (context: ProgramContext<Shelf>) => Promise<unknown>;

const rest = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const DOWN = ["crash-before-down", "crash-after-down"];

const base = {
  world: ({ clock }: { readonly clock: Clock }): Shelf => ({ books: new Map(), clock }),
  scenario: async () => {},
  stateOf: ({ books }: Shelf) => ({ books }),
};

const exploring = (run: Program, more: Partial<ExploreOptions<Shelf>> = {}) =>
  explore<Shelf, unknown>({ ...base, run, ...more } as ExploreOptions<Shelf>);

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("nothing was found"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ExplorationError);
  return (error as Error).message;
}

/** Puts one book at a time: a repeated call changes nothing. */
const put =
  (count: number): Program =>
  async ({ world, link, signal }) => {
    const shelf = link({ put: async (id: string) => void world.books.set(id, 1) }, "shelf");
    for (let id = 0; id < count; id++)
      if (!world.books.has(`${id}`)) await shelf.put(`${id}`).catch(() => shelf.put(`${id}`));
    await rest(signal);
  };

describe("a report", () => {
  it("is the same for the same seed, and counts worlds of each type of fault", async () => {
    const report = await exploring(put(3), { pairs: 5, seed: 3 });
    expect(await exploring(put(3), { pairs: 5, seed: 3 })).toEqual(report);
    expect(report).toMatchObject({ planned: 19, worlds: 24 });
    expect(report.steps).toEqual(["0", "1", "2"].map((id) => `shelf.put("${id}")`));
  });

  it("draws worlds of all types alike if there are more than allowed", async () => {
    const { faults } = await exploring(put(20), { worlds: 8 });
    expect(Object.values(faults)).toEqual([2, 1, 1, 1, 1, 1, 1]);
  });

  it("leaves out types of faults", async () => {
    const { faults } = await exploring(put(2), { without: [...DOWN, "crash-after", "hand-over"] });
    expect(Object.keys(faults).sort()).toEqual(["call-failed", "crash-before", "response-lost"]);
  });

  it("has no pairs of a single fault", async () => {
    const without = [...DOWN, "crash-before", "hand-over", "call-failed", "response-lost"];
    expect(await exploring(put(1), { without, pairs: 3 })).toMatchObject({ worlds: 1, notRun: {} });
  });
});

describe("one world alone", () => {
  it("never is one in which the program is away twice", async () => {
    const of = (second: string) =>
      exploring(put(3), { only: `crash-before-down:1+${second}` }).catch(String);
    expect(await of("crash-after-down:3")).toMatch(/^RangeError: options.only must name worlds/);
    expect(await of("crash-after:3")).toMatchObject({ worlds: 1 });
  });

  it("runs by its name, also with two faults", async () => {
    expect(await exploring(put(2), { only: "crash-after:1" })).toMatchObject({ worlds: 1 });
    const { faults } = await exploring(put(2), { only: "crash-after:1+call-failed:2" });
    expect(faults).toEqual({ "crash-after": 1, "call-failed": 1 });
  });

  it("rejects a name that no world has", async () => {
    await expect(exploring(put(2), { only: "crash-after:9" })).rejects.toThrow(
      'options.only must name worlds of this program, such as "crash-before:1", got "crash-after:9"',
    );
    await expect(exploring(put(2), { only: "crash-after:1+crash-after:9" })).rejects.toThrow(
      'such as "crash-before:1", got "crash-after:1+crash-after:9"',
    );
  });
});

/** Explores a program, and returns how many replicas were alive at the end of the last world. */
async function livesAtEnd(run: Program, more: Partial<ExploreOptions<Shelf>>): Promise<number> {
  let lives: AbortSignal[] = [];
  await exploring(
    async (context) => {
      lives.push(context.crashed);
      await run(context);
    },
    {
      ...more,
      world: (context) => {
        lives = [];
        return base.world(context);
      },
    },
  );
  return lives.filter(({ aborted }) => !aborted).length;
}

describe("one replica follows one", () => {
  it("that crashes twice at once", async () => {
    const run: Program = async ({ world, link, signal }) => {
      const put = async (id: string, duration: number): Promise<void> => {
        await world.clock.sleep(duration);
        world.books.set(id, 1);
      };
      const shelf = link({ put }, "shelf");
      const again = (id: string, duration: number): Promise<void> =>
        shelf.put(id, duration).catch(() => shelf.put(id, duration));
      await Promise.all([again("slow", 200), again("quick", 100)]);
      await rest(signal);
    };
    expect(await livesAtEnd(run, { only: "crash-after:1" })).toBe(1);
    expect(await livesAtEnd(run, { only: "crash-after:1+crash-after:2" })).toBe(1);
  });

  it("whose code ends after its crash", async () => {
    const run: Program = async ({ world, link, signal, crashed }) => {
      const shelf = link({ put: async () => void world.books.set("a", 1) }, "shelf");
      const work = shelf.put().catch(() => shelf.put());
      await Promise.race([work.then(() => rest(signal)), rest(crashed)]);
    };
    expect(await livesAtEnd(run, { only: "crash-before:1" })).toBe(1);
  });

  it("that has ended by itself, and whose next start a hand-over precedes", async () => {
    let exits = 0;
    const run: Program = async ({ world, link, clock, signal }) => {
      const shelf = link({ put: async (id: string) => void world.books.set(id, 1) }, "shelf");
      for (const id of ["a", "b"]) await shelf.put(id).catch(() => shelf.put(id));
      if (world.books.has("left")) return await rest(signal);
      await clock.sleep(1_000);
      world.books.set("left", 1);
      exits += 1;
      await clock.sleep(1_000);
    };
    const without = ["crash-before", "crash-after", "response-lost", "call-failed", ...DOWN];
    expect(await livesAtEnd(run, { without })).toBe(1);
    expect(exits).toBeGreaterThan(1);
  });
});

describe("a program that is wrong without a fault", () => {
  const wrong = (run: Program, more: Partial<ExploreOptions<Shelf>> = {}) =>
    messageOf(exploring(run, more));

  it("fails", async () => {
    const run: Program = () => Promise.reject(new Error("no disk"));
    expect(await wrong(run)).toContain(
      "the program is wrong without any fault\n  the program failed: no disk\n\nSteps:\n        0.000 s  replica 1  the program failed: no disk",
    );
    expect(await wrong(async () => {})).toContain("the program ended by itself");
    expect(await wrong(async () => {}, { quiet: 1_000, longestTimer: 0 })).toMatch(
      /^the program is wrong without any fault\n {2}the program ended by itself\n/,
    );
  });

  it("fails while it stops", async () => {
    const run: Program = async (context) => {
      await put(1)(context);
      throw new Error("no goodbye");
    };
    expect(await wrong(run)).toContain("without any fault\n  the program failed: no goodbye\n");
  });

  it("never becomes quiet, without a pause or with pauses", async () => {
    const writing =
      (pause: number): Program =>
      async ({ world, link, clock, signal }) => {
        const write = link(
          async () => void world.books.set("n", world.books.size + Math.abs(clock.now())),
          "write",
        );
        let turn = 0;
        while (!signal.aborted) {
          world.books.set("turn", ++turn);
          await write();
          if (pause > 0) await clock.sleep(pause);
        }
      };
    const problem = "the program never becomes quiet: its last steps are write(); write(); write()";
    expect(await wrong(writing(0))).toContain(problem);
    expect(await wrong(writing(300_000))).toContain(problem);
  });

  it("does not hold still when it is started again", async () => {
    const run: Program = async ({ world, link, signal }) => {
      await link(async () => void world.books.set(`${world.books.size}`, 1), "add")();
      await rest(signal);
    };
    expect(await wrong(run)).toContain(
      "a program that is started again on its last state changes it: add()",
    );
  });

  it("leaves a timer, or does not stop", async () => {
    const timer: Program = async ({ clock, signal }) => {
      clock.afterFunc(50_000_000, () => {}, { label: "forgotten" });
      clock.afterFunc(50_000_000, () => {});
      await rest(signal);
    };
    expect(await wrong(timer)).toMatch(/\d timers are left after the stop: forgotten/);
    expect(await wrong(() => new Promise(() => {}))).toContain(
      "the program has not stopped within 300 s",
    );
  });

  it("leaves a rejection that nobody handles", async () => {
    const run: Program = async ({ signal }) => {
      void Promise.reject(new Error("lost"));
      await rest(signal);
    };
    expect(await wrong(run)).toContain(
      "a promise of the program was rejected, and nobody handled it",
    );
  });

  it("breaks the invariant", async () => {
    const invariant = (state: unknown): void => {
      if ((state as Shelf).books.size > 1) throw new Error("too many books");
    };
    const message = await wrong(put(2), { invariant });
    expect(message).toContain("the invariant does not hold: too many books");
    expect(message).toContain('     2  0.000 s  replica 1  shelf.put("1")');
  });

  it("has a scenario that throws", async () => {
    const scenario = () => Promise.reject(new Error("no user"));
    expect(await wrong(put(1), { scenario })).toContain(
      "the test is wrong without any fault\n  the scenario failed: no user",
    );
    const asserting = async ({ world }: { readonly world: Shelf }): Promise<void> =>
      expect(world.books.size, "books").toBe(2);
    expect(await wrong(put(1), { scenario: asserting })).toContain(
      "the test is wrong without any fault\n  an assertion of the scenario failed: books",
    );
  });
});

describe("a difference", () => {
  it("is judged by a function of the user", async () => {
    const judge = (state: unknown): void => {
      throw new Error(`not ${JSON.stringify(Object.keys(state as object))}`);
    };
    expect(await messageOf(exploring(put(1), { expect: judge }))).toContain(
      'options.expect: not ["books"]',
    );
    expect(await exploring(put(1), { expect: () => {} })).toMatchObject({ planned: 7 });
  });

  it("names a hand-over, two faults, and the failure of a replica", async () => {
    const halves: Program = async ({ world, link, clock, signal }) => {
      const write = link(async (half: string) => void world.books.set(half, 1), "write");
      if (!world.books.has("a")) {
        await write("a");
        await clock.sleep(10_000, { signal }).catch(() => {});
        if (!signal.aborted) await write("b");
      }
      await (signal.aborted || rest(signal));
    };
    const without = [...DOWN, "crash-before", "crash-after", "response-lost", "call-failed"];
    expect(await messageOf(exploring(halves, { without }))).toMatch(
      /^hand-over at 0\.000 s\n {2}books\.b: missing, expected 1\n/,
    );
    const failing: Program = async ({ world, link, signal }) => {
      const add = link(async () => void world.books.set(`${world.books.size}`, 1), "add");
      if (world.books.size === 0)
        await add()
          .catch(() => add())
          .catch(() => add());
      await rest(signal);
    };
    expect(await messageOf(exploring(failing, { only: "response-lost:1+call-failed:2" }))).toMatch(
      /^response lost of step 1, add\(\); then call-failed at step 2, add\(\)\n/,
    );
    expect(await messageOf(exploring(failing, { only: "response-lost:1" }))).toMatch(
      /^response lost of step 1, add\(\)\n {2}books\.1: left over, 1\n/,
    );
  });

  it("shows twenty lines at most, and the start of long values", async () => {
    const many: Program = async ({ world, link, signal }) => {
      const note = link((value: unknown, _: AbortSignal, done: () => void) => {
        world.books.set("x", Number(value));
        done();
      }, "note");
      if (!world.books.has("x")) {
        await note(1, signal, () => {});
        for (let id = 0; id < 30; id++) world.books.set("y".repeat(150) + id, id);
      }
      await rest(signal);
    };
    const message = await messageOf(exploring(many, { only: "crash-after:1" }));
    expect(message).toContain("  … and 10 more");
    expect(message).toContain("note(1, signal, function)");
    const stateOf = ({ books }: Shelf) =>
      books.size > 5 ? ["z".repeat(200)] : books.size === 0 ? null : undefined;
    expect(await messageOf(exploring(many, { only: "crash-after:1", stateOf }))).toMatch(
      /state: expected \["z+…, got undefined/,
    );
    const nested = ({ books }: Shelf) => ({
      set: new Set(books.has("x") ? [1] : []),
      list: books.size > 5 ? {} : [],
    });
    expect(await messageOf(exploring(many, { only: "crash-after:1", stateOf: nested }))).toContain(
      "list: expected {}, got []",
    );
  });
});

test("a linked system keeps its plain values, and code of a crashed replica does nothing more", async () => {
  const late: Program = async ({ world, link, clock, signal, crashed, step }) => {
    const shelf = link(
      { size: 3, put: async () => void world.books.set("a", shelf.size) },
      "shelf",
    );
    crashed.addEventListener("abort", () => {
      void step({ text: "after the crash", crashes: ["before"] }, async () => world.books.clear());
      clock.afterFunc(1, () => world.books.clear());
    });
    if (!world.books.has("a")) await shelf.put().catch(() => shelf.put());
    await rest(signal);
  };
  expect(await exploring(late)).toMatchObject({ planned: 7 });
});

test("a replica may crash while it stops", async () => {
  const { faults } = await exploring(async ({ world, link, signal }) => {
    const shelf = link({ put: async () => void world.books.set("a", 1), listen: rest }, "shelf");
    const listening = shelf.listen(signal);
    if (!world.books.has("a")) await shelf.put().catch(() => shelf.put());
    await listening.catch(() => {});
    if (!signal.aborted) await rest(signal);
  });
  expect(faults["crash-after"]).toBeGreaterThan(2);
});

describe("a lost lease", () => {
  interface Office {
    goal: number;
    holder: number;
    until: number;
    written: number;
    newest: number;
  }

  /** Two replicas with a lease of 15 s. The one that holds it writes each goal once, after some time of thought. */
  const office = (isFenced: boolean) =>
    explore<Office, unknown>({
      replicas: 2,
      quiet: 120_000,
      world: () => ({ goal: 1, holder: 0, until: 0, written: 0, newest: 0 }),
      async run({ world, link, clock, signal, replica }) {
        const read = link(async () => world.goal, "read");
        const write = link(async (goal: number) => {
          if (isFenced && world.holder !== replica) return;
          world.written = goal;
          world.newest = Math.max(world.newest, goal);
        }, "write");
        while (!signal.aborted) {
          await clock.sleep(5_000, { signal }).catch(() => {});
          if (world.holder !== replica && clock.monotonic() < world.until) continue;
          world.holder = replica;
          world.until = clock.monotonic() + 15_000;
          const goal = await read().catch(() => world.written);
          if (goal !== world.written) await write(goal).catch(() => {});
        }
      },
      async scenario({ world, clock }) {
        await clock.sleep(30_000);
        world.goal = 2;
      },
      stateOf: ({ written, newest }) => ({ written, isStale: written < newest }),
      invariant: (state) => {
        if ((state as { isStale: boolean }).isStale) throw new Error("an old goal was written");
      },
    });

  it("lets a replica stand still for a minute, and go on where it was", async () => {
    expect(await messageOf(office(false))).toMatch(
      /^lease lost after step 1, read\(\)\n {2}the invariant does not hold: an old goal was written\n/,
    );
  });

  it("harms nothing if the outside knows the holder", async () => {
    const { faults } = await office(true);
    expect(faults["lost-lease"]).toBeGreaterThan(0);
  });
});

test("exits far from each other are no row, at the end of which a program would count as broken", async () => {
  const exits = new Map<Shelf, number>();
  const report = await exploring(
    async ({ world, link, clock, signal }) => {
      const shelf = link({ put: async () => void world.books.set("a", 1) }, "shelf");
      if (!world.books.has("a")) await shelf.put().catch(() => shelf.put());
      const count = exits.get(world) ?? 0;
      exits.set(world, count + 1);
      if (count === 30) await rest(signal);
      else await clock.sleep(600_000, { signal }).catch(() => {});
    },
    { only: "crash-before:1" },
  );
  expect(report.worlds).toBe(1);
  expect([...exits.values()].every((count) => count > 30)).toBe(true);
});

test("a scenario that begins before the program is ready is named", async () => {
  const run: Program = async ({ world, link, clock, signal, starting }) => {
    const write = link(async (id: string) => void world.books.set(id, 1), "write");
    starting("the cache");
    await clock.sleep(1_000);
    const known = [...world.books.keys()];
    starting(undefined);
    await clock.sleep(1_000);
    const news = [...world.books.keys()].filter((id) => !known.includes(id));
    for (const id of news) await write(`seen ${id}`);
    await rest(signal);
  };
  const message = await messageOf(
    exploring(run, {
      scenario: async ({ world, clock, ready }) => {
        await ready();
        world.books.set("a", 1);
        await clock.sleep(10_000);
      },
      only: "scenario-first:1",
    }),
  );
  expect(message).toMatch(
    /^the scenario begins before the program is ready\n {2}books\.seen a: missing, expected 1\n/,
  );
});
