import { FakeClock } from "@holdfast/clock/testing";
import { Controller, type Logger, silentLogger } from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const odd = (): never => {
  throw new Error("odd");
};
const down = (): Promise<never> => Promise.reject(new Error("down"));
const again = () => ({ requeueAfter: 1_000 });
const measure = { maxWorkers: odd, activeWorkers: odd, reconciled: odd, source: odd };

interface Common {
  readonly name: string;
  readonly clock: FakeClock;
  readonly logger: Logger;
}

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

function looping(controller: Controller): Controller {
  controller.add("a");
  return controller;
}

/** Each has one thing that fails all the time. */
const DOORS: Record<string, (common: Common) => Runnable> = {
  "a controller whose metrics throw": (common) =>
    looping(new Controller({ ...common, reconcile: again, metrics: measure as never })),
  "a controller whose limiter throws": (common) => {
    const limiter = { when: odd, forget: odd, requeues: odd };
    return looping(new Controller({ ...common, reconcile: again, limiter }));
  },
  "a controller whose source fails": (common) =>
    new Controller({ ...common, reconcile: again, sources: [{ name: "odd", start: down }] }),
};

describe("a failure that repeats is logged once a minute", () => {
  it.each(Object.entries(DOORS))("%s", async (_, make) => {
    const clock = new FakeClock();
    const lines: object[] = [];
    const write = (details: object): void => void lines.push(details);
    const logger: Logger = { ...silentLogger, warn: write, error: write };
    const stop = new AbortController();
    const run = make({ name: "part", clock, logger }).run(stop.signal);
    await clock.step(600_000);
    stop.abort();
    await clock.run(() => run);
    expect(lines.length).toBeGreaterThan(9);
    expect(lines.length).toBeLessThanOrEqual(3 * 11); // three hooks at most
  });
});
