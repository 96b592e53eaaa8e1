// Programs whose work takes its time: a job outside, a call that lasts, rows with times. None is accused.

import type { Clock } from "@holdfast/clock";
import { type ExploreOptions, explore, type ProgramContext } from "@holdfast/explore";
import { retry } from "@holdfast/wait";
import { expect, it } from "vitest";

const MINUTE = 60_000;

/** A job outside of the program that takes a while. */
class Jobs {
  readonly rows = new Map<string, unknown>();
  readonly begun = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async begin(id: string): Promise<void> {
    if (!this.begun.has(id)) this.begun.set(id, this.#clock.now());
  }

  async isDone(id: string): Promise<boolean> {
    return this.#clock.now() >= (this.begun.get(id) ?? 0) + 15 * MINUTE;
  }

  /** Takes as long as the rest of the job. */
  async finish(id: string): Promise<void> {
    await this.#clock.sleep((this.begun.get(id) ?? 0) + 15 * MINUTE - this.#clock.now());
  }

  async set(id: string, row: unknown): Promise<void> {
    this.rows.set(id, row);
  }
}

type Work = (jobs: Jobs, context: ProgramContext<Jobs>) => Promise<unknown>;

/** Does the work as a reconcile, again five seconds after a failure. */
const exploring = (work: Work, more: Partial<ExploreOptions<Jobs>> = {}) =>
  explore<Jobs, unknown>({
    world: ({ clock }) => new Jobs(clock),
    async run(context) {
      const { world, link, clock, signal } = context;
      const jobs = link(world, "jobs");
      const reconcile = context.watch("jobs", () => work(jobs, context));
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      const loop = async (): Promise<void> => {
        while (!signal.aborted) {
          const isDone = await reconcile({ key: "a", signal }).then(
            (value) => value !== "again",
            () => false,
          );
          if (isDone) return;
          await clock.sleep(5_000, { signal }).catch(() => {});
        }
      };
      await Promise.race([loop().then(() => stopped), stopped]);
    },
    scenario: async () => {},
    stateOf: ({ rows }) => rows,
    worlds: 30,
    ...more,
  });

it("waits for a job outside that a program asks for every 30 s", async () => {
  const { steps } = await exploring(async (jobs, { world, clock, signal }) => {
    if (world.rows.has("a")) return;
    await jobs.begin("a");
    while (!(await jobs.isDone("a"))) await clock.sleep(30_000, { signal });
    await jobs.set("a", "done");
  });
  expect(steps.at(-1)).toBe('jobs.set("a", "done")');
});

it("waits for a timer that is due at the instant at which the world counts as quiet", async () => {
  const { steps } = await exploring(async (jobs, { world }) => {
    if (world.rows.has("a")) return undefined;
    await jobs.begin("a");
    if (!(await jobs.isDone("a"))) return "again";
    return await jobs.set("a", "done");
  });
  expect(steps.at(-1)).toBe('jobs.set("a", "done")');
});

it("waits for a hand-over to a replica that has work left", async () => {
  const { faults } = await exploring(async () => {}, {
    async run({ world, link, clock, signal }) {
      const jobs = link(world, "jobs");
      const until = (time: number): Promise<void> =>
        clock.sleep((world.begun.get("a") ?? 0) + time - clock.now(), { signal });
      const work = async (): Promise<void> => {
        await jobs.begin("a");
        await until(590_000);
        await jobs.isDone("a");
        await until(700_000);
        await jobs.set("a", "done");
        await clock.sleep(Number.POSITIVE_INFINITY, { signal });
      };
      await retry(work, {
        clock,
        shouldRetry: () => !signal.aborted,
        delay: () => 1_000,
        retries: 9,
      }).catch(() => {});
      await clock.sleep(60_000); // the stop takes its time
    },
  });
  expect(faults["hand-over"]).toBeGreaterThan(1);
});

it("waits for a call that takes a quarter of an hour", async () => {
  const { steps } = await exploring(async (jobs, { world }) => {
    if (world.rows.has("a")) return;
    await jobs.begin("a");
    await jobs.finish("a");
    await jobs.set("a", "done");
  });
  expect(steps.at(-1)).toBe('jobs.set("a", "done")');
});

it("ends a call of a replica that has stopped", async () => {
  const { faults } = await exploring(async () => {}, {
    async run({ world, link, watch, clock, signal }) {
      const jobs = link(world, "jobs");
      const reconcile = watch("jobs", async () => {
        if (world.rows.has("a")) return;
        await jobs.begin("a");
        await jobs.finish("a");
        await jobs.set("a", "done");
      });
      const request = { key: "a", signal, leadership: { isHeld: true } };
      const retries = Number.POSITIVE_INFINITY;
      void retry(() => reconcile(request), { clock, signal, delay: () => 5_000, retries }).catch(
        () => {},
      );
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
    },
  });
  expect(faults["hand-over"]).toBeGreaterThan(0);
});

it("does not compare a name with the time, and does not take it for a name of another time", async () => {
  const { masked } = await exploring(async (jobs, { world }) => {
    for (const [id, time] of world.begun) await jobs.set(`job-${time}`, { of: id });
    if (world.begun.size === 0) await jobs.begin("a");
    if (world.rows.size === 0) throw new Error("again");
  });
  expect(masked).toEqual(["state.job-*"]);

  const problem = await exploring(async (jobs, { world, clock }) => {
    if (world.rows.size === 0 || !world.begun.has("a")) await jobs.set(`job-${clock.now()}`, 1);
    await jobs.begin("a");
  }).catch((error: Error) => error.message);
  expect(problem).toContain("job-* (2): left over");
});

it("compares all values of a program that follows the calendar", async () => {
  const maskedBy = async (next: (jobs: Jobs, isLater: boolean) => Promise<void>) => {
    const { masked } = await exploring(
      async (jobs, { clock }) => {
        const year = new Date(clock.now()).getUTCFullYear();
        await jobs.set("year", `of ${year}`);
        await next(jobs, year > 2100);
      },
      { worlds: 1 },
    );
    return masked;
  };
  expect(await maskedBy((jobs) => jobs.set("rows", ["row"]))).toEqual(["state.year"]);
  expect(await maskedBy((jobs, isLater) => jobs.set("rows", isLater ? [] : ["row"]))).toEqual([]);
  const failing = async (_: Jobs, isLater: boolean): Promise<void> => {
    if (isLater) throw new Error("the calendar ends here");
  };
  expect(await maskedBy(failing)).toEqual([]);
});

it("finds a random value that two places must share", async () => {
  const renewing = (isCorrect: boolean) =>
    exploring(
      async (jobs, { world, uid }) => {
        if (world.rows.get("generation") !== 2) {
          const password = uid();
          await jobs.set("secret", password);
          if (!isCorrect) await jobs.set("generation", 2);
          await jobs.set("database", password);
          if (isCorrect) await jobs.set("generation", 2);
        }
      },
      {
        world: ({ clock }) => {
          const jobs = new Jobs(clock);
          jobs.rows.set("secret", "first").set("database", "first");
          return jobs;
        },
      },
    );
  const second = await renewing(false).catch((error: Error) => error.message);
  expect(second).toContain('database: expected "<random, in 2 places>", got "<random>"');
  await renewing(true);
});

it("does not compare times of a run: texts, Dates, milliseconds and seconds", async () => {
  const { worlds } = await exploring(async (jobs, { clock }) => {
    const at = clock.now();
    const texts = { text: new Date(at).toISOString(), date: new Date(at) };
    await jobs.set("a", { ...texts, milliseconds: at, seconds: Math.floor(at / 1_000) });
  });
  expect(worlds).toBeGreaterThan(5);
});

it("becomes quiet although a row outside has the time of the last beat", async () => {
  const { worlds } = await exploring(async (jobs, { clock, signal }) => {
    const beat = async (): Promise<void> => {
      while (!signal.aborted) {
        await jobs.set("a", { beat: clock.now() }).catch(() => {});
        await clock.sleep(5 * MINUTE, { signal }).catch(() => {});
      }
    };
    void beat();
  });
  expect(worlds).toBeGreaterThan(1);
});

it("compares other numbers and texts", async () => {
  const problem = await exploring(async (jobs, { replica }) => {
    await jobs.set("a", { replica, id: 946_684_799, of: "1999-12-31T23:59:59Z" });
  }).catch((error: Error) => error.message);
  expect(problem).toContain("changes it: jobs.set");
});

it("shows arguments and results that JSON cannot have", async () => {
  const row: { self?: object } = {};
  row.self = row;
  const { steps } = await exploring(
    async (jobs) => {
      await jobs.set("a", 1n);
      await jobs.set("b", row);
    },
    { stateOf: ({ rows }) => [...rows.keys(), rows.get("a")] },
  );
  expect(steps).toEqual(['jobs.set("a", "1n")', 'jobs.set("b", [object Object])']);
});

it("does not count timers of the scenario or of a fake as left by the program", async () => {
  const { worlds } = await exploring((jobs) => jobs.set("a", "done"), {
    world: ({ clock }) => {
      clock.afterFunc(100 * 60 * MINUTE, () => {}, { label: "of the fake" });
      return new Jobs(clock);
    },
    async scenario({ clock }) {
      clock.afterFunc(100 * 60 * MINUTE, () => {}, { label: "of the scenario" });
    },
  });
  expect(worlds).toBeGreaterThan(1);
});
