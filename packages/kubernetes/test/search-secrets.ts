import { silentLogger } from "@holdfast/controller";
import type { FakeApi, FakeApiOptions } from "@holdfast/fake-apiserver";
import type { KubeResponse, KubeTransport } from "@holdfast/kubernetes";
import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { leaks, searchForSecrets } from "./secrets.ts";

// Searches for the token and for the data of Secrets: all that the tests of this package print, log or measure, the
// Events that they write, and every error that a function, a method of a class or a transport of this package
// throws or rejects with. secrets.test.ts shows each of them red.

type Method = (this: unknown, ...args: unknown[]) => unknown;

const LEVELS = ["debug", "info", "log", "warn", "error"] as const;

const EVENTS = /\/events(\/|\?|$)/;

const originals: [holder: object, name: string, property: PropertyDescriptor | undefined][] = [];

function replace<T extends object = Method>(
  holder: object,
  name: string,
  wrap: (real: T) => T,
): void {
  const real: unknown = Reflect.get(holder, name);
  if (typeof real !== "function") return;
  originals.push([holder, name, Object.getOwnPropertyDescriptor(holder, name)]);
  const value = wrap(real as T);
  Object.defineProperty(value, "name", { value: name });
  // Exports of a module are getters.
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

function restore(): void {
  for (const [holder, name, property] of originals.splice(0).reverse())
    if (property === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, property);
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
      if (!(result instanceof Promise)) return result;
      // The promise that is returned, so that errors still show the code that called.
      return result.catch((error: unknown) => {
        searchForSecrets(error);
        throw error;
      });
    } catch (error) {
      searchForSecrets(error);
      throw error;
    }
  };
}

/** As {@link searchThrown}, for `send` of a transport: its body may fail as well. */
function searchExchange(real: Method): Method {
  return searchThrown(async function (this: unknown, ...args) {
    const response = (await real.apply(this, args)) as KubeResponse;
    return { ...response, body: searchBody(response.body) };
  });
}

/** Not a generator: that would keep `return` waiting until the next chunk. */
function searchBody(body: KubeResponse["body"]): KubeResponse["body"] {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]();
      const next = async () => {
        try {
          return await chunks.next();
        } catch (error) {
          searchForSecrets(error);
          throw error;
        }
      };
      return {
        next,
        ...(chunks.return && { return: () => chunks.return?.() as ReturnType<typeof next> }),
      };
    },
  };
}

/** Texts for people, such as metrics: what the method returns is searched as well. */
function searchText(real: Method): Method {
  return searchThrown(async function (this: unknown, ...args) {
    const text = await real.apply(this, args);
    searchForSecrets(text);
    return text;
  });
}

/** The double, which searches the Events that come to it. */
function searchEvents(Server: typeof FakeApi): typeof FakeApi {
  return class extends Server {
    constructor(options: FakeApiOptions) {
      super(options);
      const { transport } = this;
      const { send } = transport;
      const searching: KubeTransport["send"] = (request, signal) => {
        if (EVENTS.test(request.path)) searchForSecrets(request.body);
        return send(request, signal);
      };
      Object.assign(transport, { send: searching });
    }
  };
}

/** The answers of probes and of the metrics endpoint. */
function searchServed(real: Method): Method {
  return async function (...args) {
    const response = (await real.apply(this, args)) as Response;
    if (/\/(metrics|readyz|healthz)$/.test(response.url))
      searchForSecrets(await response.clone().text());
    return response;
  };
}

const isClass = (value: object): boolean =>
  /^class\b/.test(Function.prototype.toString.call(value));

/** The names of the functions that a module exports. */
const functionsOf = (module: object): string[] =>
  Object.entries(module)
    .filter(([, value]) => typeof value === "function" && !isClass(value))
    .map(([name]) => name);

const methodsOf = (prototype: object): string[] =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => name);

/** For the test file that is running. */
export async function searchSecrets(): Promise<void> {
  for (const level of LEVELS) replace(console, level, searchPrinted);
  const root = await import("@holdfast/kubernetes");
  const testing = await import("@holdfast/fake-apiserver");
  const { FakeApi: Double } = testing;
  const { Hooks } = await import("@holdfast/kit");
  const { HttpTransport } = await import("../src/transport/http-transport.ts");
  const { Registry } = await import("prom-client");
  for (const level of LEVELS) replace(silentLogger, level, searchPrinted);
  replace(Hooks.prototype, "log", searchPrinted);
  replace(HttpTransport.prototype, "send", searchExchange);
  replace(testing, "FakeApi", searchEvents);
  replace(Registry.prototype, "metrics", searchText);
  replace(globalThis, "fetch", searchServed);
  for (const module of [root, testing])
    for (const name of functionsOf(module)) replace(module, name, searchThrown);
  const { Cluster, EventRecorder, HealthServer, KubeClient, LeaseLock } = root;
  for (const { prototype } of [Cluster, EventRecorder, Double, HealthServer, KubeClient, LeaseLock])
    for (const name of methodsOf(prototype)) replace(prototype, name, searchThrown);

  beforeEach(() => {
    leaks.length = 0;
  });
  afterEach(() => {
    expect(leaks, "secrets in what was printed or thrown").toEqual([]);
  });
  afterAll(restore);
}
