import { isThenable } from "./call-safely.ts";

/** How a call of a linked system is done: as a step, or at once if it only makes another object. */
export interface LinkedCalls {
  /** Names of the methods that are known, and whether each makes an object without a promise. */
  readonly known: Map<string, "step" | "maker">;
  /** Whether the replica can call at once: it has not crashed and does not stand still. */
  readonly isAwake: () => boolean;
  /** Does a call as a step. */
  readonly step: (call: LinkedCall, perform: () => Promise<unknown>) => Promise<unknown>;
  /** Shows an argument in the text of a call. */
  readonly show: (value: unknown) => string;
  /** Calls a method for the first time, to see whether it makes an object. Default: a plain call. */
  readonly probe?: (name: string, perform: () => unknown) => unknown;
  /** The function that a system gets in place of one of the program. Default: the same. */
  readonly callback?: (callback: Method, linked: (value: unknown) => unknown) => Method;
}

/** A call of a linked system. */
export interface LinkedCall {
  /** The path of the method, as in `dns.records.put`. */
  readonly name: string;
  /** The call with its arguments. */
  readonly text: string;
  readonly args: readonly unknown[];
}

type Method = (...args: unknown[]) => unknown;

/**
 * Links systems: every call of a method becomes a step, at any depth. A method that returns an object with methods, and
 * no promise, is called at once, and the object is linked: `db.collection("x").insert(row)` is one step.
 */
export class Linker {
  readonly #calls: LinkedCalls;
  readonly #linked = new WeakMap<object, object>();
  readonly #targets = new WeakMap<object, object>();

  constructor(calls: LinkedCalls) {
    this.#calls = calls;
  }

  /** @throws TypeError if the system has no methods of its own */
  link<System extends object>(system: System, name: string): System {
    if (!isLinkable(system))
      throw new TypeError(
        `link: ${name} must be an object with methods or a function, got ${kindOf(system)}; make a step of each call with \`step\``,
      );
    return this.#wrap(system, name, undefined) as System;
  }

  #wrap(target: object, name: string, owner: object | undefined): object {
    const linked = this.#linked.get(target);
    if (linked !== undefined) return linked;
    const proxy = new Proxy(target, {
      get: (_, property) => this.#get(target, property, name),
      apply: (_, __, args: unknown[]) => this.#call(target as Method, owner, { name, args }),
      construct: (_, args: unknown[]) =>
        this.#result(Reflect.construct(target as new () => object, args), name) as object,
    });
    this.#linked.set(target, proxy);
    this.#targets.set(proxy, target);
    return proxy;
  }

  #get(target: object, property: string | symbol, name: string): unknown {
    if (typeof property === "symbol" || isOfTheLanguage(property))
      return this.#atOnce(target, property, name);
    const value: unknown = Reflect.get(target, property, target);
    const path = `${name}.${property}`;
    if (Array.isArray(value)) return this.#result(value, path);
    if (!isLinkable(value)) return value;
    const own = Object.getOwnPropertyDescriptor(target, property);
    if (own?.configurable === false && own.writable === false)
      throw new TypeError(
        `link: ${path} is read-only and cannot be linked; make a step of its calls with \`step\``,
      );
    return this.#wrap(value, path, target);
  }

  /** A property that the language uses. Its calls are no steps, but for those of an async iterator. */
  #atOnce(target: object, property: string | symbol, name: string): unknown {
    const value: unknown = Reflect.get(target, property, target);
    if (typeof value !== "function" || property === "constructor") return value;
    if (property !== Symbol.asyncIterator) return value.bind(target);
    return () => this.#iterator(target as AsyncIterable<unknown>, name);
  }

  #call(
    method: Method,
    owner: object | undefined,
    { name, args }: { readonly name: string; readonly args: readonly unknown[] },
  ): unknown {
    const { known, isAwake, step, show, probe = (_, perform) => perform() } = this.#calls;
    const text = `${name}(${args.map(show).join(", ")})`;
    const given = args.map((arg) => this.#given(arg, text));
    const perform = (): unknown => Reflect.apply(method, owner, given);
    const later = (run: () => unknown): Promise<unknown> =>
      step({ name, text, args }, async () => run()).then((value) => this.#result(value, text));
    if (!isAwake() || known.get(name) === "step") return later(perform);
    // The first call of a method shows what it is. It comes without a fault, in the run that finds the places.
    const result = settled(() => probe(name, perform));
    if ("value" in result && isLinkable(result.value) && !isThenable(result.value)) {
      known.set(name, "maker");
      return this.#result(result.value, text);
    }
    known.set(name, "step");
    return later(() => {
      if ("error" in result) throw result.error;
      return result.value;
    });
  }

  #given(arg: unknown, text: string): unknown {
    if (typeof arg !== "function" || this.#targets.has(arg) || this.#calls.callback === undefined)
      return this.#targets.get(arg as object) ?? arg;
    return this.#calls.callback(arg as Method, (value) => this.#result(value, text));
  }

  /** Each item is a step: it may be the request for the next page. */
  #iterator(iterable: AsyncIterable<unknown>, name: string): AsyncIterator<unknown> {
    const iterator = iterable[Symbol.asyncIterator]();
    const path = `${name}.next()`;
    const call = { name: path, text: path, args: [] };
    return {
      next: async () => {
        const item = await this.#calls.step(call, () => iterator.next());
        const { done, value } = item as IteratorResult<unknown>;
        return { done: done === true, value: this.#result(value, path) };
      },
      return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
    };
  }

  #result(value: unknown, name: string): unknown {
    if (Array.isArray(value) && value.some((item) => isLinkable(item)))
      return value.map((item, index) => this.#result(item, `${name}[${index}]`));
    return isLinkable(value) ? this.#wrap(value, name, undefined) : value;
  }
}

/** Whether every object has a method of this name, or JSON calls it: the language waits for no step. */
function isOfTheLanguage(method: string): boolean {
  return method in Object.prototype || method === "toJSON";
}

function settled(run: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

/** Whether a value or a part of it has methods that the test wrote: no data, and no object of the platform. */
export function isLinkable(value: unknown, seen: Set<object> = new Set()): value is object {
  if (typeof value === "function") return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  if (seen.has(value)) return false;
  seen.add(value);
  const parts = chainOf(value);
  if (parts.some((one) => isOfThePlatform(one.constructor))) return false;
  return parts.some(hasMethod) || ownParts(value).some((own) => isLinkable(own, seen));
}

/** An object and its prototypes, up to that of all objects. */
function chainOf(value: object): object[] {
  const parts: object[] = [];
  let part: object | null = value;
  while (part !== null && part !== Object.prototype) {
    parts.push(part);
    part = Object.getPrototypeOf(part) as object | null;
  }
  return parts;
}

/** The values of an object's own properties that no getter computes. */
function ownParts(value: object): unknown[] {
  return Object.values(Object.getOwnPropertyDescriptors(value)).map((own) => own.value);
}

function hasMethod(part: object): boolean {
  const own = Object.entries(Object.getOwnPropertyDescriptors(part));
  return own.some(([name, { value }]) => name !== "constructor" && typeof value === "function");
}

function isOfThePlatform(maker: unknown): boolean {
  if (typeof maker !== "function" || maker === Object) return false;
  return (globalThis as Record<string, unknown>)[maker.name] === maker;
}

function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return `a ${value.constructor?.name ?? "value without methods"}`;
}
