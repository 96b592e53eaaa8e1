import { AsyncLocalStorage } from "node:async_hooks";
import { mock } from "node:test";
import { install } from "@sinonjs/fake-timers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { countTimeouts } from "../count-timeouts.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Loads this package again, with the platform as it is now. */
async function load() {
  vi.resetModules();
  const { onAbort, realClock } = await import("../../src/index.ts");
  const { FakeClock } = await import("../../src/testing/index.ts");
  const { callInOwnContext, holdOpen, yieldTurn } = await import("@holdfast/kit");
  return { callInOwnContext, onAbort, realClock, FakeClock, holdOpen, yieldTurn };
}

/** Replaces `AbortSignal.any`, which is not on `globalThis`, until the test has ended. */
function stubAny(any: typeof AbortSignal.any | undefined): void {
  const real = AbortSignal.any;
  Object.assign(AbortSignal, { any });
  cleanups.push(() => Object.assign(AbortSignal, { any: real }));
}

/**
 * Loads it as in a browser: without `process`, without immediates and without timer objects. An old one
 * has no `AbortSignal.any`.
 */
async function loadInBrowser(host: { any?: typeof AbortSignal.any; events?: object } = {}) {
  const { any, events } = host;
  stubAny(any);
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  /** Functions of a browser throw on a receiver other than the window. */
  const ofWindow = <Args extends unknown[], Result>(fn: (...args: Args) => Result) =>
    function (this: unknown, ...args: Args): Result {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      return fn(...args);
    };
  vi.stubGlobal("setImmediate", undefined);
  const asNumber = (set: (wake: () => void, delay: number) => unknown) =>
    ofWindow((wake: () => void, delay: number) => Number(set(wake, delay)));
  vi.stubGlobal("setTimeout", asNumber(setTimeout));
  vi.stubGlobal("setInterval", asNumber(setInterval));
  vi.stubGlobal(
    "clearTimeout",
    ofWindow((handle: number) => clearTimeout(handle)),
  );
  vi.stubGlobal(
    "clearInterval",
    ofWindow((handle: number) => clearInterval(handle)),
  );
  const modules = vi
    .spyOn(process, "getBuiltinModule")
    .mockImplementation((name) => (name === "node:events" ? events : undefined) as never);
  const { getActiveResourcesInfo } = process;
  Object.assign(process, { getActiveResourcesInfo: undefined });
  cleanups.push(() => {
    Object.assign(process, { getActiveResourcesInfo });
    modules.mockRestore();
    vi.unstubAllGlobals();
  });
  return await load();
}

/** Aborts `stop` so that a listener added with `addEventListener` after this does not hear it. */
function hideAbortOf(stop: AbortController): void {
  stop.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
}

describe("an abort that another listener hides with stopImmediatePropagation", () => {
  it("reaches sleeps and callbacks at once on Node", async () => {
    const { FakeClock, onAbort } = await load();
    const clock = new FakeClock();
    const stop = new AbortController();
    hideAbortOf(stop);
    const heard: unknown[] = [];
    onAbort(stop.signal, (reason) => heard.push(reason));
    const slept = clock.sleep(1000, { signal: stop.signal });
    stop.abort("bye");
    await expect(slept).rejects.toBe("bye");
    expect([heard, clock.waiters(), clock.monotonic()]).toEqual([["bye"], 0, 1_000_000]);
  });

  it("ends a sleep at its deadline with the reason if only addEventListener exists", async () => {
    const { FakeClock } = await loadInBrowser();
    const clock = new FakeClock();
    const stop = new AbortController();
    hideAbortOf(stop);
    const ends: unknown[] = [];
    const slept = clock.sleep(1000, { signal: stop.signal }).catch((reason) => ends.push(reason));
    stop.abort("bye");
    await clock.step(999);
    expect(ends).toEqual([]);
    await clock.step(1);
    await slept;
    expect([ends, clock.waiters()]).toEqual([["bye"], 0]);
    expect(abortListeners(stop.signal)).toBe(1); // the one that hides
  });

  it("reaches every wait on the signal when the first sleep wakes, without AbortSignal.any", async () => {
    const { FakeClock, onAbort } = await loadInBrowser();
    const clock = new FakeClock();
    const stop = new AbortController();
    hideAbortOf(stop);
    const heard: unknown[] = [];
    onAbort(stop.signal, (reason) => heard.push(["callback", reason]));
    for (const delay of [10, 5000])
      clock.sleep(delay, { signal: stop.signal }).catch((reason) => heard.push([delay, reason]));
    stop.abort("bye");
    await clock.step(10);
    expect(heard).toEqual([
      ["callback", "bye"],
      [10, "bye"],
      [5000, "bye"],
    ]);
    expect(clock.waiters()).toBe(0);
    expect(abortListeners(stop.signal)).toBe(1); // the one that hides
  });
});

describe("a hidden abort with AbortSignal.any", () => {
  /** One of Deno: it listens, and does not resist. */
  const weakEvents = {
    addAbortListener(signal: AbortSignal, listener: () => void): Disposable {
      signal.addEventListener("abort", listener);
      return { [Symbol.dispose]: () => signal.removeEventListener("abort", listener) };
    },
  };
  const platforms = [
    { name: "a browser", host: {} },
    { name: "Deno", host: { events: weakEvents } },
  ];

  it.each(platforms)("reaches sleeps and callbacks at once in $name", async ({ host }) => {
    const any = vi.fn(AbortSignal.any);
    const { FakeClock, onAbort } = await loadInBrowser({ any, ...host });
    const clock = new FakeClock();
    const stop = new AbortController();
    hideAbortOf(stop);
    const heard: unknown[] = [];
    onAbort(stop.signal, () => heard.push("disposed"))[Symbol.dispose]();
    onAbort(stop.signal, (reason) => heard.push(reason));
    const slept = clock.sleep(1000, { signal: stop.signal });
    stop.abort("bye");
    await expect(slept).rejects.toBe("bye");
    expect([heard, clock.waiters(), any.mock.calls.length]).toEqual([["bye"], 0, 1]);
    expect(abortListeners(stop.signal)).toBe(1); // the one that hides
  });

  it("leaves no listener on the signal that follows", async () => {
    const followers: AbortSignal[] = [];
    const real = AbortSignal.any;
    const any = (signals: Iterable<AbortSignal>) => {
      const follower = real.call(AbortSignal, [...signals]);
      followers.push(follower);
      return follower;
    };
    const { onAbort } = await loadInBrowser({ any });
    const { signal } = new AbortController();
    const subscriptions = [onAbort(signal, () => {}), onAbort(signal, () => {})];
    expect(followers.map(abortListeners)).toEqual([1]);
    for (const subscription of subscriptions) subscription[Symbol.dispose]();
    expect(followers.map(abortListeners)).toEqual([0]);
  });

  it("a signal that is not the platform's own is listened to directly", async () => {
    const { onAbort } = await loadInBrowser({ any: AbortSignal.any });
    const polyfill = Object.assign(new EventTarget(), { aborted: false, reason: "bye" });
    const heard: unknown[] = [];
    onAbort(polyfill as unknown as AbortSignal, (reason) => heard.push(reason));
    polyfill.dispatchEvent(new Event("abort"));
    expect(heard).toEqual(["bye"]);
  });
});

describe("without the modules of Node", () => {
  it("realClock sleeps, stops, and ends at an abort without a listener left", async () => {
    const { realClock } = await loadInBrowser();
    const start = realClock.monotonic();
    await realClock.sleep(2, { ref: false });
    expect(realClock.monotonic() - start).toBeGreaterThanOrEqual(2);

    const stop = new AbortController();
    const slept = realClock.sleep(60_000, { signal: stop.signal });
    expect(abortListeners(stop.signal)).toBe(1);
    stop.abort("enough");
    await expect(slept).rejects.toBe("enough");
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("callbacks run without the context of their caller", async () => {
    const { FakeClock } = await loadInBrowser();
    const clock = new FakeClock();
    const store = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    store.run("caller", () => clock.afterFunc(1, () => seen.push(store.getStore())));
    clock.stepSync(1);
    expect(seen).toEqual([undefined]);
  });

  it("FakeClock runs, each timer after a turn of the event loop", async () => {
    const { FakeClock } = await loadInBrowser();
    const clock = new FakeClock();
    const order: unknown[] = [];
    await clock.run(async () => {
      for (let index = 0; index < 3; index++) {
        await clock.sleep(1000);
        order.push(clock.monotonic() - 1_000_000);
        const { port1, port2 } = new MessageChannel();
        port1.once("message", () => order.push("message"));
        port2.postMessage(undefined);
        port1.once("message", () => port1.close());
      }
      await clock.sleep(1);
    });
    expect(order).toEqual([1000, "message", 2000, "message", 3000, "message"]);
  });

  it("a stuck run names no resources", async () => {
    const { FakeClock } = await loadInBrowser();
    const stuck = new FakeClock().run(() => new Promise(() => {}), { stallMs: 1 });
    await expect(stuck).rejects.toMatchObject({ facts: { resources: [] } });
  });

  it("a stuck run names no resources if the function for them throws, as in workerd", async () => {
    const { FakeClock } = await load();
    const info = vi.spyOn(process, "getActiveResourcesInfo").mockImplementation(() => {
      throw new Error("not implemented");
    });
    cleanups.push(() => info.mockRestore());
    const stuck = new FakeClock().run(() => new Promise(() => {}), { stallMs: 1 });
    await expect(stuck).rejects.toMatchObject({ facts: { resources: [] } });
  });

  it("yieldTurn takes a turn on realClock and leaves no port open", async () => {
    const { realClock, yieldTurn } = await loadInBrowser();
    const close = vi.spyOn(MessagePort.prototype, "close");
    cleanups.push(() => close.mockRestore());
    const order: string[] = [];
    const turn = yieldTurn(realClock).then(() => order.push("turn"));
    for (let hops = 0; hops < 50; hops++) await undefined;
    order.push("promises");
    await turn;
    expect([order, close.mock.calls.length]).toEqual([["promises", "turn"], 1]);
  });
});

describe("a turn of the event loop without the modules of Node", () => {
  /** Like that of workerd: messages arrive among the microtasks. */
  class PromptChannel {
    readonly port1 = { onmessage: () => {}, close: () => {} };
    readonly port2 = { postMessage: () => queueMicrotask(() => this.port1.onmessage()) };
  }

  it.each([
    { name: "messages are microtasks, as in workerd", channel: PromptChannel },
    { name: "there is no MessageChannel", channel: undefined },
  ])("comes after all promises and lets timers fire where $name", async ({ channel }) => {
    vi.stubGlobal("MessageChannel", channel);
    const { realClock, yieldTurn } = await loadInBrowser();
    let hasFired = false;
    realClock.afterFunc(1, () => {
      hasFired = true;
    });
    const order: string[] = [];
    const turn = yieldTurn(realClock).then(() => order.push("turn"));
    for (let hops = 0; hops < 50; hops++) await undefined;
    order.push("promises");
    await turn;
    expect(order).toEqual(["promises", "turn"]);
    for (let turns = 0; turns < 1_000 && !hasFired; turns++) await yieldTurn(realClock);
    expect(hasFired).toBe(true);
  });

  it("uses timers that are bound functions, as those of node:timers in workerd", async () => {
    const { setImmediate, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const timers = { setImmediate, setTimeout, clearTimeout, setInterval, clearInterval };
    const bound = Object.fromEntries(
      Object.entries(timers).map(([name, timer]) => [name, timer.bind(undefined)]),
    );
    vi.resetModules();
    const modules = vi
      .spyOn(process, "getBuiltinModule")
      .mockImplementation((name) => (name === "node:timers" ? bound : undefined) as never);
    cleanups.push(() => modules.mockRestore());
    const { FakeClock } = await import("../../src/testing/index.ts");
    const clock = new FakeClock();
    await clock.run(() => clock.sleep(1_000));
    expect(clock.monotonic()).toBe(1_001_000);
  });
});

describe("holdOpen", () => {
  it("keeps the process alive on realClock until disposed, unseen by faked timers", async () => {
    const { holdOpen, realClock } = await load();
    const sinon = install({ toFake: ["setTimeout", "setInterval", "clearInterval"] });
    cleanups.push(() => sinon.uninstall());
    const before = countTimeouts();
    const hold = holdOpen(realClock);
    expect([countTimeouts() - before, sinon.countTimers()]).toEqual([1, 0]);
    hold[Symbol.dispose]();
    expect(countTimeouts()).toBe(before);
  });

  it("works on realClock of another copy of this package", async () => {
    const { realClock } = await load();
    const { holdOpen } = await load();
    const before = countTimeouts();
    const hold = holdOpen(realClock);
    expect(countTimeouts() - before).toBe(1);
    hold[Symbol.dispose]();
    expect(countTimeouts()).toBe(before);
  });

  it("sets an interval without an effect where the modules of Node are missing", async () => {
    const calls: [wake: () => void, delay: number][] = [];
    const cleared: unknown[] = [];
    vi.stubGlobal("setInterval", (...args: [() => void, number]) => calls.push(args));
    vi.stubGlobal("clearInterval", (handle: unknown) => cleared.push(handle));
    const { holdOpen, realClock } = await loadInBrowser();
    const hold = holdOpen(realClock);
    expect(calls.map(([wake, delay]) => [wake(), delay])).toEqual([[undefined, 2 ** 31 - 1]]);
    hold[Symbol.dispose]();
    expect(cleared).toEqual([1]);
  });

  it("arms nothing on any other clock", async () => {
    const { FakeClock, holdOpen } = await load();
    const before = countTimeouts();
    const clock = new FakeClock();
    const hold = holdOpen(clock);
    expect([countTimeouts() - before, clock.waiters()]).toEqual([0, 0]);
    hold[Symbol.dispose]();
  });
});

describe("yieldTurn", () => {
  it("lets queued immediates run on realClock", async () => {
    const { realClock, yieldTurn } = await load();
    const order: string[] = [];
    setImmediate(() => order.push("immediate"));
    await yieldTurn(realClock).then(() => order.push("turn"));
    expect(order).toEqual(["immediate", "turn"]);
  });

  it("is a timer due now on any other clock", async () => {
    const { FakeClock, yieldTurn } = await load();
    const clock = new FakeClock();
    const turn = yieldTurn(clock);
    expect(clock.pending()).toEqual([{ label: "turn", deadline: 1_000_000, ref: true }]);
    await clock.step(0);
    await turn;
  });
});

describe("imported for the first time while fake timers are installed", () => {
  const REFUSAL =
    "@holdfast/clock/testing needs the real timers, but fake timers are installed: import it before you install them, or uninstall them first";

  const bySinon = () => {
    const sinon = install({ toNotFake: ["nextTick", "queueMicrotask", "performance"] });
    return () => sinon.uninstall();
  };
  const byVitest = () => {
    vi.useFakeTimers();
    return () => void vi.useRealTimers();
  };
  const byNodeTest = () => {
    using _ = vi.spyOn(process, "emitWarning").mockReturnValue(); // an experimental API
    mock.timers.enable({ apis: ["setTimeout", "setImmediate", "setInterval"] });
    return () => mock.timers.reset();
  };
  const fakes = [
    { name: "@sinonjs/fake-timers", fake: bySinon },
    { name: "vi.useFakeTimers()", fake: byVitest },
    { name: "mock.timers of node:test", fake: byNodeTest },
  ];

  /** vitest leaves `node:timers` alone, and there /testing finds the real ones. */
  const hiding = fakes.filter(({ fake }) => fake !== byVitest);

  it.each(hiding)("/testing refuses under $name, and loads after it", async ({ fake }) => {
    vi.resetModules();
    const uninstall = fake();
    try {
      await expect(import("../../src/testing/index.ts")).rejects.toThrow(new Error(REFUSAL));
    } finally {
      uninstall();
    }
    const { FakeClock } = await load();
    await new FakeClock().step(1);
  });

  it("/testing refuses under vi.useFakeTimers() without the modules of Node", async () => {
    vi.resetModules();
    const modules = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    cleanups.push(() => modules.mockRestore());
    cleanups.push(byVitest());
    await expect(import("../../src/testing/index.ts")).rejects.toThrow(new Error(REFUSAL));
  });

  it("FakeClock runs on the real event loop under vi.useFakeTimers()", async () => {
    cleanups.push(byVitest());
    const { FakeClock } = await load();
    const clock = new FakeClock();
    await clock.run(() => clock.sleep(1000));
    expect(clock.monotonic()).toBe(1_001_000);
  });

  it.each(fakes)("realClock works under $name, and holds the process afterwards", async (row) => {
    vi.resetModules();
    const uninstall = row.fake();
    const { realClock } = await import("../../src/index.ts");
    const { holdOpen, yieldTurn } = await import("@holdfast/kit");
    try {
      await yieldTurn(realClock);
      holdOpen(realClock)[Symbol.dispose]();
    } finally {
      uninstall();
    }
    await nextTurn();
    const before = countTimeouts();
    const hold = holdOpen(realClock);
    expect(countTimeouts() - before).toBe(1);
    hold[Symbol.dispose]();
  });
});

describe("a call in its own async context", () => {
  it.each([
    ["with node:async_hooks", load, "before"],
    ["without", loadInBrowser, "entered"],
  ])("%s: returns the result, throws the error, and keeps its stores", async (_, from, left) => {
    const { callInOwnContext } = await from();
    const store = new AsyncLocalStorage<string>();
    const error = new Error("thrown");
    const enter = (argument: string) => {
      const seen = store.getStore();
      store.enterWith("entered");
      if (argument === "throw") throw error;
      return [argument, seen];
    };
    store.run("before", () => {
      expect(callInOwnContext(enter, "a")).toEqual(["a", "before"]);
      expect(store.getStore()).toBe(left);
      expect(() => callInOwnContext(enter, "throw")).toThrow(error);
      expect(store.getStore()).toBe(left);
    });
  });
});
