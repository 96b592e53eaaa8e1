import { afterAll, expect, vi } from "vitest";
import { ContextStores } from "./context-stores.ts";
import { ReplaceableGlobals } from "./replaceable-globals.ts";

// Files share a worker, its globals and the modules it has loaded: see `isolate` in vitest.config.ts.

const found = new ReplaceableGlobals();
const stores = new ContextStores();
afterAll(() => stores[Symbol.dispose]());

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
const socketsBefore = openSockets();

/** A socket that nobody closes stays as long as the worker, and is counted by the files after it. */
afterAll(() =>
  vi.waitFor(() => {
    const left = Math.max(0, openSockets() - socketsBefore);
    expect(left, "sockets that this file has left open").toBe(0);
  }, 60_000),
);

/** A file that leaves something faked fails itself, and not the files after it. */
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  const replaced = found.replaced();
  found.restore();
  expect(replaced, "globals that this file has replaced and not put back").toEqual([]);
});

const directory = process.cwd();

/** Relative paths of the files after it would lead elsewhere, or into a folder that is gone. */
afterAll(() => {
  let left = "a folder that does not exist any more";
  try {
    left = process.cwd();
  } catch {
    // It was removed.
  }
  process.chdir(directory);
  expect(left, "the working directory that this file has left").toBe(directory);
});

const { resetModules } = vi;
let hasReset = false;
Object.assign(vi, {
  resetModules: () => {
    hasReset = true;
    return resetModules.call(vi);
  },
});

/** Modules that a file has loaded anew, under fakes perhaps, are not for the files after it. */
afterAll(() => {
  if (hasReset) vi.resetModules();
  hasReset = false;
});

/** Where the `fetch` of Node keeps the connections that it may use again. */
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

/**
 * Connections that a file leaves open end with it: their timers would come from the globals, and so from the fakes
 * of a file after this one.
 */
afterAll(async () => {
  const dispatcher: unknown = Reflect.get(globalThis, DISPATCHER);
  if (!isDispatcher(dispatcher)) return;
  Reflect.set(globalThis, DISPATCHER, Reflect.construct(dispatcher.constructor, []));
  await dispatcher.destroy();
});

/** Newer Node keeps a wrapper there, which cannot be made anew. */
function isDispatcher(value: unknown): value is { destroy(): Promise<void> } {
  return typeof value === "object" && value !== null && value.constructor.name === "Agent";
}

function refuse(): never {
  throw new Error(
    "A mocked module would stay for the files after this one, and is not seen where it was loaded " +
      "before. Spy on what the module exports, as file-lock.internal.test.ts does, or pass it in.",
  );
}

Object.assign(vi, { mock: refuse, doMock: refuse });
