/** Where the machine's time and chance are reached, and fakes of them stand. */
const PLACES: readonly [holder: object, name: string][] = [
  [globalThis, "setTimeout"],
  [globalThis, "clearTimeout"],
  [globalThis, "setInterval"],
  [globalThis, "clearInterval"],
  [globalThis, "setImmediate"],
  [globalThis, "clearImmediate"],
  [globalThis, "queueMicrotask"],
  [globalThis, "performance"],
  [globalThis, "Date"],
  [globalThis.performance, "now"],
  [process, "nextTick"],
  [process, "hrtime"],
  [Math, "random"],
];

/** Time and chance, as they are when this is made. */
export class ReplaceableGlobals {
  readonly #kept = PLACES.map(([holder, name]) => ({
    holder,
    name,
    value: Reflect.get(holder, name) as unknown,
    property: Object.getOwnPropertyDescriptor(holder, name),
  }));

  /** The names of those that are something else by now. */
  replaced(): string[] {
    return this.#kept
      .filter(({ holder, name, value }) => Reflect.get(holder, name) !== value)
      .map(({ name }) => name);
  }

  /** Makes them what they were. */
  restore(): void {
    for (const { holder, name, value, property } of this.#kept) {
      if (property === undefined) Reflect.deleteProperty(holder, name);
      else Object.defineProperty(holder, name, property);
      // A setter may have taken a fake: that of `performance` does, and stays the same property.
      if (Reflect.get(holder, name) !== value) Reflect.set(holder, name, value);
    }
  }
}
