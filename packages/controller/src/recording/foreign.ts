import { createHook } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import type { Tape } from "./tape.ts";

/** Something that a program used and that no recording has. */
export interface Foreign {
  /** Its name, for example `Math.random` or `setTimeout`. */
  readonly name: string;
  /** The stack of the call. */
  readonly stack: string;
}

/** Names of the resources of Node whose callbacks a program can wait for, beside promises. */
const RESOURCES: readonly (readonly [type: RegExp, name: string])[] = [
  [/^Timeout$/, "setTimeout"],
  [/^Immediate$/, "setImmediate"],
  [/^(FS|FILEHANDLE|STATWATCHER)/, "a call of node:fs"],
  [/^(TCP|PIPECONNECT|UDP|TLS|HTTP|GETADDR|GETNAME|QUERYWRAP|DNS)/, "the network"],
  [/^(PROCESSWRAP|WORKER|MESSAGEPORT)/, "another process or thread"],
  [/^ZLIB$/, "node:zlib"],
  [/REQUEST$/, "node:crypto in a thread"],
];

/** Most that are kept. */
const MOST = 20;

/** Frames between a call and the function that a program calls. */
const OWN_FRAME = /recording[/\\]foreign\.|node:internal|at new Promise|async_hooks/;

/**
 * Watches for time, chance and I/O that pass no seam, while a program is replayed.
 *
 * @param tape - knows whether the code that runs is that of the program
 * @param found - receives each
 * @returns an object that stops it
 */
export function watchForeign(tape: Pick<Tape, "isInside">, found: Foreign[]): Disposable {
  const note = (name: string): void => {
    if (!tape.isInside || found.length === MOST) return;
    const { stack = "" } = new Error(name);
    const frames = stack
      .split("\n")
      .slice(1)
      .filter((frame) => !OWN_FRAME.test(frame));
    const one = { name, stack: frames.join("\n") };
    if (!found.some((other) => other.name === name && other.stack === one.stack)) found.push(one);
  };
  const hook = createHook({
    init: (_, type) => {
      const name = RESOURCES.find(([types]) => types.test(type))?.[1];
      if (name !== undefined) note(name);
    },
  });
  const undo = [
    spyOn(Math, "random", () => note("Math.random")),
    spyOn(globalThis.performance, "now", () => note("performance.now")),
    spyOn(globalThis.crypto, "randomUUID", () => note("crypto.randomUUID")),
    spyOn(globalThis.crypto, "getRandomValues", () => note("crypto.getRandomValues")),
    spyOn(crypto, "randomUUID", () => note("crypto.randomUUID")),
    spyOn(crypto, "randomBytes", () => note("crypto.randomBytes")),
    spyOn(crypto, "randomInt", () => note("crypto.randomInt")),
    spyOnDate(note),
  ];
  syncBuiltinESMExports();
  hook.enable();
  return {
    [Symbol.dispose]: () => {
      hook.disable();
      for (const each of undo.toReversed()) each();
      syncBuiltinESMExports();
    },
  };
}

/** Calls `note` before each call of a method. Returns a function that puts the method back. */
function spyOn<Owner extends object>(
  owner: Owner,
  name: keyof Owner,
  note: () => void,
): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const method = owner[name] as (...args: unknown[]) => unknown;
  const value = (...args: unknown[]): unknown => {
    note();
    return Reflect.apply(method, owner, args);
  };
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, before);
  };
}

function spyOnDate(note: (name: string) => void): () => void {
  const real = globalThis.Date;
  const now = (): number => {
    note("Date.now");
    return real.now();
  };
  const watched = new Proxy(real, {
    construct: (target, args, made) => {
      if (args.length === 0) note("new Date");
      return Reflect.construct(target, args, made) as Date;
    },
    apply: (target) => {
      note("Date");
      return target();
    },
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  const use = (date: DateConstructor): void => {
    globalThis.Date = date;
    real.prototype.constructor = date; // dates that exist are those of the global
  };
  use(watched);
  return () => use(real);
}
