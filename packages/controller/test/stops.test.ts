// An error that only passes on an abort is no failure, at every door that ends by an abort.
import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, Manager, MemoryLock, silentLogger } from "@holdfast/controller";
import { backoffUntil } from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { Group, until } from "@holdfast/wait/go";
import { backoffManager } from "@holdfast/wait/loop";
import { describe, expect, it } from "vitest";

type Work = (signal: AbortSignal) => Promise<unknown>;

const clock = new FakeClock();
const fixed = { delayFunc: () => () => 1 };

/** Each runs the work until the signal aborts. */
const doors: Readonly<Record<string, (work: Work, signal: AbortSignal) => Promise<unknown>>> = {
  backoffUntil: (work, signal) =>
    backoffUntil(work, backoffManager(fixed, { clock }), true, signal),
  until: (work, signal) => until(work, 1, signal, { clock }),
  keepConnected: (work, signal) =>
    keepConnected(
      () => ({}),
      (_, own) => work(own),
      { signal, clock },
    ),
  "Group.startWithSignal": async (work, signal) => {
    const group = new Group();
    group.startWithSignal(work, signal);
    await group.wait();
  },
  Manager: async (work, signal) => {
    const manager = new Manager({ clock, logger: silentLogger });
    manager.add({ name: "work", run: async (own) => void (await work(own)) });
    await manager.run(signal);
  },
  LeaderElector: async (work, signal) => {
    const failures: unknown[] = [];
    const elector = new LeaderElector({
      lock: new MemoryLock(),
      identity: "a",
      clock,
      logger: silentLogger,
      onError: (error) => failures.push(error),
      lead: (leadership) => work(leadership.signal),
    });
    await elector.run(signal);
    if (failures.length > 0) throw failures[0];
  },
};

function abortError(cause: unknown): Error {
  return Object.assign(new Error("aborted", { cause }), { name: "AbortError" });
}

const run = promisify(execFile);
const here = fileURLToPath(import.meta.url);
const stops: Readonly<Record<string, Work>> = {
  "signal.reason": async (signal) => {
    await once(signal, "abort");
    throw signal.reason;
  },
  "node:timers/promises": (signal) => sleep(60_000, undefined, { signal }),
  "events.once": (signal) => once(new EventEmitter(), "never", { signal }),
  "fs.readFile": async (signal) => {
    await once(signal, "abort");
    await readFile(here, { signal });
  },
  "a child process": (signal) =>
    run(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { signal }),
  "an AbortError within another": async (signal) => {
    await once(signal, "abort");
    throw abortError(abortError(signal.reason));
  },
};

/** Runs work at a door, and aborts when it has begun. */
async function stopped(door: string, work: Work): Promise<unknown> {
  const stop = new AbortController();
  const begun = deferred();
  const running = doors[door]?.((signal) => {
    begun.resolve(undefined);
    return work(signal);
  }, stop.signal);
  await begun.promise;
  stop.abort(new Error("told to stop"));
  return await running?.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function deferred() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe.each(Object.keys(doors))("%s", (door) => {
  it.each(Object.keys(stops))(
    "resolves when its work passes on the abort as %s does",
    async (name) => {
      expect(await stopped(door, stops[name] as Work)).toBeUndefined();
    },
  );

  it.each([
    ["an error of its own", new Error("broken pipe")],
    ["an AbortError of another signal", abortError(new Error("of another"))],
  ])("reports %s after the abort", async (_, error) => {
    const result = await stopped(door, async (signal) => {
      await once(signal, "abort");
      throw error;
    });
    const found = result instanceof AggregateError ? (result.errors[0] as Error).cause : result;
    expect(found).toBe(error);
  });
});
