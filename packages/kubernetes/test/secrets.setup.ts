import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { leaks, searchForSecrets } from "./secrets.ts";

// Searches everything that the tests of this package print, and every error that a method of its classes throws or
// rejects with, for the token and for the data of Secrets.

type Method = (this: unknown, ...args: unknown[]) => unknown;

const LEVELS = ["debug", "info", "log", "warn", "error"] as const;

const originals: [holder: object, name: string, value: unknown][] = [];

function replace(holder: object, name: string, wrap: (real: Method) => Method): void {
  const real: unknown = Reflect.get(holder, name);
  if (typeof real !== "function") return;
  originals.push([holder, name, real]);
  const wrapped = wrap(real as Method);
  Object.defineProperty(wrapped, "name", { value: name });
  Reflect.set(holder, name, wrapped);
}

function searchPrinted(real: Method): Method {
  return function (...args) {
    for (const value of args) searchForSecrets(value);
    return real.apply(this, args);
  };
}

function searchThrown(real: Method): Method {
  return function (...args) {
    try {
      const result = real.apply(this, args);
      if (result instanceof Promise) result.catch(searchForSecrets);
      return result;
    } catch (error) {
      searchForSecrets(error);
      throw error;
    }
  };
}

const methodsOf = (prototype: object): string[] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => name);

if (expect.getState().testPath?.includes("packages/kubernetes/test/")) {
  for (const level of LEVELS) replace(console, level, searchPrinted);
  // Not for the tests of the other packages, which share this file.
  const root = await import("@holdfast/kubernetes");
  const { FakeApi } = await import("@holdfast/kubernetes/testing");
  const { Cluster, EventRecorder, HealthServer, KubeClient, LeaseLock } = root;
  for (const { prototype } of [
    Cluster,
    EventRecorder,
    FakeApi,
    HealthServer,
    KubeClient,
    LeaseLock,
  ])
    for (const name of methodsOf(prototype)) replace(prototype, name, searchThrown);

  beforeEach(() => {
    leaks.length = 0;
  });
  afterEach(() => {
    expect(leaks, "secrets in what was printed or thrown").toEqual([]);
  });
  afterAll(() => {
    for (const [holder, name, value] of originals) Reflect.set(holder, name, value);
  });
}
