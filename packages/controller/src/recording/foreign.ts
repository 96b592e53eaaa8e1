import { asyncWrapProviders, createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import type { Line, Tape } from "./tape.ts";

/** Something that a program used and that no recording has. */
export interface Foreign {
  /** Its name, for example `Math.random` or `setTimeout`. */
  readonly name: string;
  /** The stack of the call. */
  readonly stack: string;
}

/** What a recorder has noted. */
export function foreignOf({ c, s }: Line): Foreign {
  return { name: `${c}`, stack: `${s}` };
}

/** Names that an error has beside the first one. */
const NAMED = 5;

/**
 * What a program used, in the words of an error: the first one with its stack, others by their names.
 *
 * @param foreign - at least one
 * @returns the text, which goes on after "used"
 */
export function foreignText([first, ...others]: readonly Foreign[]): string {
  const names = new Set(others.map(({ name }) => name).filter((name) => name !== first?.name));
  const also = names.size === 0 ? "" : ` (also used: ${[...names].slice(0, NAMED).join(", ")})`;
  return `${first?.name}, which no recording has; use clock, random or link of its context${also}\n${first?.stack}`;
}

/** Names of the resources of Node whose callbacks a program can wait for, beside promises. */
const RESOURCES: readonly (readonly [type: RegExp, name: string])[] = [
  [/^Timeout$/, "setTimeout"],
  [/^Immediate$/, "setImmediate"],
  [/^(FS|FILEHANDLE|STATWATCHER|DIRHANDLE|BLOBREADER)/, "a call of node:fs"],
  [/^(PROCESSWRAP|WORKER|MESSAGEPORT|SIGNALWRAP)/, "another process or thread"],
  [/^ZLIB$/, "node:zlib"],
  [/REQUEST$/, "node:crypto in a thread"],
  [/./, "the network"],
];

/** Resources of Node that tell a program nothing. */
const SILENT: ReadonlySet<string> = new Set(["NONE", "PROMISE", "ELDHISTOGRAM", "SIGINTWATCHDOG"]);

function nameOf(type: string): string | undefined {
  const isOfNode = type === "Timeout" || type === "Immediate" || type in asyncWrapProviders;
  if (!isOfNode || SILENT.has(type)) return undefined;
  return RESOURCES.find(([types]) => types.test(type))?.[1];
}

/** Functions that return another value in each process, by the text that names their owner. */
const VALUES: readonly (readonly [text: string, owner: object, names: RegExp])[] = [
  ["Math", Math, /^random$/],
  ["performance", globalThis.performance, /^now$/],
  ["crypto", globalThis.crypto, /^(randomUUID|getRandomValues)$/],
  [
    "crypto",
    crypto,
    /^(random|generate)\w+$|^(createSign|createECDH|createDiffieHellman|publicEncrypt)$/,
  ],
  ["fs", fs, /Sync$/],
  ["child_process", childProcess, /Sync$/],
  ["os", os, /./],
  ["process", process, /^(hrtime|uptime|memoryUsage|cpuUsage|resourceUsage|cwd)$/],
  ["process.hrtime", process.hrtime, /^bigint$/],
  ["process.memoryUsage", process.memoryUsage, /^rss$/],
];

/** Most stacks of a name that are kept: a name must not hide the others. */
const MOST = 20;

/** Frames between a call and the function that a program calls. */
const OWN_FRAME = /recording[/\\]foreign\.|node:internal|at new Promise|async_hooks/;

/** The frames of a program that calls, without those between. */
export function stackOf(name: string): string {
  return framesOf(name)
    .filter((frame) => !OWN_FRAME.test(frame))
    .join("\n");
}

function framesOf(name: string): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50; // the frames of the library come before those of the program
  const { stack = "" } = new Error(name);
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split("\n").slice(1);
}

/** Whether Node calls a function that it offers to programs too, as `require` reads a file. */
function isCalledByNode(): boolean {
  // That of node:crypto is a function of Node which calls the other one.
  const own = /recording[/\\]foreign\.|getRandomValues \(node:/;
  const caller = framesOf("").find((frame) => !own.test(frame));
  return caller === undefined || /\bnode:/.test(caller);
}

/** Whether Node makes a resource in a function that ends before it returns, such as `gzipSync`: nobody can wait for it. */
function isMadeAtOnce(): boolean {
  return framesOf("").some((frame) => /(Sync\]?|\bsyncBufferWrapper) \(node:/.test(frame));
}

/**
 * Watches for time, chance and I/O that pass no seam, while a program is replayed.
 *
 * @param tape - knows whether the code that runs is that of the program
 * @param found - receives each
 * @returns an object that stops it
 */
export function watchForeign(tape: Pick<Tape, "isInside">, found: Foreign[]): Disposable {
  const stacks = new Map<string, Set<string>>();
  const note = (name: string): void => {
    const known = stacks.get(name) ?? new Set();
    if (!tape.isInside || known.size === MOST) return;
    const stack = stackOf(name);
    if (!known.has(stack)) found.push({ name, stack });
    stacks.set(name, known.add(stack));
  };
  const called = (name: string): void => {
    if (tape.isInside && !isCalledByNode()) note(name);
  };
  // They open when they are first used, by console.log too.
  void [process.stdout, process.stderr];
  const hook = createHook({
    init: (_, type) => {
      const name = nameOf(type);
      if (name !== undefined && tape.isInside && !isMadeAtOnce()) note(name);
    },
  });
  const undo = [
    ...VALUES.flatMap(([text, owner, names]) =>
      functionsOf(owner, names).map((name) => spyOn(owner, name, () => called(`${text}.${name}`))),
    ),
    spyOn(globalThis, "fetch", () => called("fetch")),
    spyOnEnvironment(called),
    spyOnDate(called),
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

/** The methods of an object, of its class too. */
function functionsOf(owner: object, names: RegExp): string[] {
  const kind = Object.getPrototypeOf(owner) as object;
  const all = [owner, ...(kind === Object.prototype ? [] : [kind])].flatMap(
    Object.getOwnPropertyNames,
  );
  return [...new Set(all)].filter(
    (name) =>
      names.test(name) &&
      typeof Reflect.get(owner, name) === "function" &&
      Object.getOwnPropertyDescriptor(owner, name)?.configurable !== false,
  );
}

/** Calls `note` before each call of a method. Returns a function that puts the method back. */
function spyOn(owner: object, name: string, note: () => void): () => void {
  const method = Reflect.get(owner, name) as () => unknown;
  const value = new Proxy(method, {
    apply: (_, self, args) => {
      note();
      return Reflect.apply(method, self, args);
    },
  });
  return replace(owner, name, value);
}

function spyOnEnvironment(called: (name: string) => void): () => void {
  const read = (name: string | symbol): void => called(`process.env.${String(name)}`);
  const value = new Proxy(process.env, {
    get: (environment, name) => {
      read(name);
      return Reflect.get(environment, name);
    },
    has: (environment, name) => {
      read(name);
      return Reflect.has(environment, name);
    },
    set: (environment, name, given) => Reflect.set(environment, name, given),
  });
  return replace(process, "env", value);
}

/** Sets a property. Returns a function that puts the former one back. */
function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const enumerable = before?.enumerable === true;
  Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable });
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
