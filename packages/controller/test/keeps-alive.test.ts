import {
  Controller,
  LeaderElector,
  Manager,
  MemoryLock,
  Shards,
  silentLogger,
} from "@holdfast/controller";
import { expect, it } from "vitest";

const logger = silentLogger;

const runs: Record<string, (signal: AbortSignal, options?: { ref?: boolean }) => Promise<void>> = {
  controller: (signal, options) =>
    new Controller({ name: "test", reconcile: () => {}, logger }).run(signal, options),
  elector: (signal, options) =>
    new LeaderElector({
      lock: new MemoryLock(),
      identity: "a",
      lead: ({ signal: asked }) =>
        new Promise<void>((resolve) => asked.addEventListener("abort", () => resolve())),
      logger,
    }).run(signal, options),
  shards: (signal, options) =>
    new Shards({
      count: 1,
      identity: "a",
      lockOf: () => new MemoryLock(),
      lead: () => {},
      logger,
    }).run(signal, options),
  manager: (signal, options) => new Manager({ logger, signals: undefined }).run(signal, options),
};

/** Timers that keep the process alive. */
const timers = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

/** How many timers a run arms at once. */
async function armedBy(run: (typeof runs)[string], ref: boolean): Promise<number> {
  const stop = new AbortController();
  const before = timers();
  const running = run(stop.signal, { ref });
  const armed = timers() - before;
  stop.abort();
  await running;
  return armed;
}

it.each(Object.entries(runs))(
  "a run of the %s holds a timer for the process, unless `ref` is false",
  async (_name, run) => {
    expect((await armedBy(run, true)) - (await armedBy(run, false))).toBe(1);
  },
);
