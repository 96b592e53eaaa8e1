import { findModule, findProcess } from "@holdfast/kit";

/**
 * The platform: its timers, its clocks and its signals. Node, Deno, Bun and workerd provide Node's modules
 * through `process.getBuiltinModule`; a browser gets the fallbacks. No code checks the name of a
 * platform.
 */

/**
 * Timers of the machine, which a fake installed later does not replace. Call them without a receiver:
 * browsers reject any receiver but their own.
 */
interface MachineTimers {
  readonly setTimeout: (callback: () => void, delay: number) => unknown;
  readonly clearTimeout: (handle: unknown) => void;
  readonly setInterval: (callback: () => void, delay: number) => unknown;
  readonly clearInterval: (handle: unknown) => void;
  readonly setImmediate?: ((callback: () => void) => unknown) | undefined;
}

interface Events {
  addAbortListener?(signal: AbortSignal, listener: () => void): Disposable;
}

// Aborts

const events = findModule<Events>("node:events");

/** Calls a listener when a signal aborts; returns a function that removes it. */
type ListenForAbort = (signal: AbortSignal, listener: () => void) => () => void;

let listen: ListenForAbort | undefined;

/**
 * Calls `listener` when `signal` aborts, even if an earlier listener calls
 * `stopImmediatePropagation()`. Only without `events.addAbortListener` and `AbortSignal.any` such an
 * abort stays hidden, so waits read `signal.aborted` again.
 *
 * @returns a function that removes the listener
 */
export function listenForAbort(signal: AbortSignal, listener: () => void): () => void {
  listen ??= findListen();
  return listen(signal, listener);
}

function findListen(): ListenForAbort {
  const addAbortListener = events?.addAbortListener;
  if (addAbortListener !== undefined) {
    const listenByNode: ListenForAbort = (signal, listener) => {
      const subscription = addAbortListener(signal, listener);
      return () => subscription[Symbol.dispose]();
    };
    if (hearsHiddenAborts(listenByNode)) return listenByNode;
  }
  return typeof AbortSignal.any === "function" ? listenToFollower : listenDirectly;
}

/** Node's `addAbortListener` receives an abort that another listener hides; that of Deno 2 does not. */
function hearsHiddenAborts(listenTo: ListenForAbort): boolean {
  const controller = new AbortController();
  controller.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
  let isHeard = false;
  listenTo(controller.signal, () => {
    isHeard = true;
  });
  controller.abort();
  return isHeard;
}

/** One for each signal, as long as the signal lives: signals of `AbortSignal.any` do not pile up. */
const followers = new WeakMap<AbortSignal, AbortSignal>();

/** A listener cannot hide an abort from a signal of `AbortSignal.any`. */
function listenToFollower(signal: AbortSignal, listener: () => void): () => void {
  if (!(signal instanceof AbortSignal)) return listenDirectly(signal, listener); // a polyfill
  let follower = followers.get(signal);
  if (follower === undefined) {
    follower = AbortSignal.any([signal]);
    followers.set(signal, follower);
  }
  return listenDirectly(follower, listener);
}

function listenDirectly(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener("abort", listener);
  return () => signal.removeEventListener("abort", listener);
}

// Timers that follow the globals

/** Timer objects of Node. Browsers and their fakes return a number, which has no methods. */
interface TimerObject {
  unref?(): unknown;
  close?(): unknown;
}

/** The wall clock, the monotonic clock and the timers of the globals. */
interface GlobalTimers {
  /** The longest delay that `setTimeout` accepts, in milliseconds. */
  readonly longest: number;
  /** An infinite timer keeps the process alive, so it is set like any other timer. */
  readonly booksForever: boolean;
  /** False while `setTimeout` is faked and `performance` is not. */
  readonly measuresTimers: boolean;
  now(): number;
  monotonic(): number;
  set(wake: () => void, delay: number, ref: boolean): unknown;
  clear(handle: unknown): void;
}

/**
 * Timers that look up `setTimeout` on `globalThis` at each call, so faked globals drive them. Called
 * without a receiver, like {@link MachineTimers}.
 */
export const globalTimers: GlobalTimers = {
  longest: 2 ** 31 - 1,
  booksForever: true,

  get measuresTimers() {
    return !isFake(globalThis.setTimeout) || globalThis.performance.now !== importedNow;
  },

  now: () => globalThis.Date.now(),

  monotonic: () => globalThis.performance.now(),

  set(wake, delay, ref) {
    const { setTimeout } = globalThis;
    const handle = setTimeout(wake, Math.ceil(delay));
    if (!ref) unref(handle);
    return handle;
  },

  /** A `clearTimeout` faked after the timer was set does not know the timer; `close` does. */
  clear(handle) {
    const timer = handle as TimerObject;
    const clearTimeout = globalThis.clearTimeout as (handle: unknown) => void;
    if (timer.close === undefined) clearTimeout(handle);
    else timer.close();
  },
};

function unref(handle: unknown): void {
  (handle as TimerObject).unref?.();
}

// Timers that no fake replaces

let machine = findTimers();

function findTimers(): MachineTimers | undefined {
  const modules = findModule<MachineTimers>("node:timers") ?? (globalThis as MachineTimers);
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = modules;
  const found = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };
  return Object.values(found).some(isFake) ? undefined : found;
}

/** Sinon, vitest and jest leave their clock on a faked function; `node:test` binds a private method; workerd binds its own. */
function isFake(timer: object | undefined): boolean {
  if (typeof timer !== "function") return false;
  return "clock" in timer || timer.name.startsWith("bound #");
}

/**
 * The timers of the machine, captured the first time they are not faked.
 *
 * @throws Error if they have been faked since this file was first imported
 */
export function machineTimers(): MachineTimers {
  machine ??= findTimers();
  if (machine !== undefined) return machine;
  throw new Error(
    "@holdfast/clock/testing needs the real timers, but fake timers are installed: import it before you install them, or uninstall them first",
  );
}

const importedNow = performance.now;

/** The real `performance.now`, in milliseconds. */
export const machineNow: () => number = importedNow.bind(performance);

/** Calls back in a later turn of the event loop, after every promise that can settle has settled. */
export function afterTurn(callback: () => void): void {
  machine ??= findTimers();
  const setImmediate = machine?.setImmediate;
  if (setImmediate === undefined) afterMessage(callback);
  else setImmediate(callback);
}

/** The part of a `MessagePort` on which the types of Node and of the DOM agree too little. */
interface Port {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/**
 * A turn without `setImmediate`. A browser delays nested timeouts by 4 ms, so this posts a message.
 * workerd delivers messages as microtasks but does not delay timeouts, so a timeout makes the turn
 * there.
 */
function afterMessage(callback: () => void): void {
  const { setTimeout } = machine ?? (globalThis as MachineTimers);
  if (typeof MessageChannel === "undefined") {
    setTimeout(callback, 0);
    return;
  }
  const channel = new MessageChannel();
  const [receiver, sender] = [channel.port1, channel.port2] as unknown as [Port, Port];
  let haveMicrotasksRun = false;
  receiver.onmessage = () => {
    receiver.close();
    if (haveMicrotasksRun) callback();
    else setTimeout(callback, 0);
  };
  sender.postMessage(undefined);
  queueMicrotask(() => {
    haveMicrotasksRun = true;
  });
}

/** Calls back about every millisecond, without keeping the process alive; returns a function that stops it. */
export function everyMillisecond(callback: () => void): () => void {
  const { setInterval, clearInterval } = machineTimers();
  const handle = setInterval(callback, 1);
  unref(handle);
  return () => clearInterval(handle);
}

/**
 * Keeps the process alive until disposed.
 *
 * It uses an interval of the machine, not a timer of `realClock`: `vi.runAllTimers()` would fire an
 * infinite faked timer forever. While fakes hide the machine's timers it sets none, and the test
 * runner keeps the process alive.
 */
export function keepAlive(): Disposable {
  machine ??= findTimers();
  const { setInterval, clearInterval } = machine ?? {};
  const handle = setInterval?.(() => {}, globalTimers.longest);
  return { [Symbol.dispose]: () => clearInterval?.(handle) };
}

/**
 * The kinds of resources that keep the process alive, without duplicates: a hint for messages. Empty if
 * the platform does not list them. In workerd the function exists but throws.
 *
 * @param ownTimers - how many timers of the library to leave out
 */
export function activeResources(ownTimers: number): string[] {
  let own = ownTimers;
  return [...new Set(resourceNames().filter((name) => name !== "Timeout" || own-- <= 0))];
}

function resourceNames(): string[] {
  try {
    return findProcess()?.getActiveResourcesInfo?.() ?? [];
  } catch {
    return [];
  }
}
