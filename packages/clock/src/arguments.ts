/** How a rejected value reads in an error message. */
function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return `function ${value.name || "(anonymous)"}`;
  if (typeof value === "object" && value !== null) return Object.prototype.toString.call(value);
  return String(value);
}

/** The delay to use: below 0 becomes 0. */
export function requireDelay(name: string, value: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a number of milliseconds, got ${show(value)}`);
  if (Number.isNaN(value))
    throw new RangeError(`${name} must be a number of milliseconds, got NaN`);
  return Math.max(value, 0);
}

export function requirePeriod(name: string, value: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a number of milliseconds above 0, got ${show(value)}`);
  if (!(value > 0))
    throw new RangeError(`${name} must be a number of milliseconds above 0, got ${value}`);
  return value;
}

export function requireInstant(name: string, value: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be an instant in milliseconds, got ${show(value)}`);
  if (Number.isNaN(value))
    throw new RangeError(`${name} must be an instant in milliseconds, got NaN`);
  return value;
}

export function requireFinite(name: string, value: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a finite number, got ${show(value)}`);
  if (!Number.isFinite(value))
    throw new RangeError(`${name} must be a finite number, got ${value}`);
  return value;
}

export function requireWhole(name: string, value: number, least: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a whole number of at least ${least}, got ${show(value)}`);
  if (!(Number.isInteger(value) || value === Number.POSITIVE_INFINITY) || value < least)
    throw new RangeError(`${name} must be a whole number of at least ${least}, got ${value}`);
  return value;
}

export function requireFunction(name: string, value: unknown): void {
  if (typeof value !== "function")
    throw new TypeError(`${name} must be a function, got ${show(value)}`);
}

export function requireOptions(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null)
    throw new TypeError(`${name} must be an object, got ${show(value)}`);
}

/** Accepts every object that behaves like an `AbortSignal`, whatever realm made it. */
export function requireSignal(name: string, value: AbortSignal): void {
  const signal = value as Partial<AbortSignal> | null;
  if (typeof signal?.aborted !== "boolean" || typeof signal.addEventListener !== "function")
    throw new TypeError(`${name} must be an AbortSignal, got ${show(value)}`);
}

export function requireAtLeast(name: string, value: number, least: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a finite number of at least ${least}, got ${show(value)}`);
  if (!(value >= least && value < Number.POSITIVE_INFINITY))
    throw new RangeError(`${name} must be a finite number of at least ${least}, got ${value}`);
  return value;
}

export function requireBetween(name: string, value: number, least: number, most: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a number from ${least} to ${most}, got ${show(value)}`);
  if (!(value >= least && value <= most))
    throw new RangeError(`${name} must be a number from ${least} to ${most}, got ${value}`);
  return value;
}

export function requireNotNegative(name: string, value: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a number of at least 0, got ${show(value)}`);
  if (!(value >= 0)) throw new RangeError(`${name} must be a number of at least 0, got ${value}`);
  return value;
}

export function requireAbove(name: string, value: number, bound: number): number {
  if (typeof value !== "number")
    throw new TypeError(`${name} must be a number above ${bound}, got ${show(value)}`);
  if (!(value > bound))
    throw new RangeError(`${name} must be a number above ${bound}, got ${value}`);
  return value;
}

export function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== "boolean")
    throw new TypeError(`${name} must be true or false, got ${show(value)}`);
}

/** Accepts every object with these methods, whichever copy of a package it comes from. */
export function requireMethods(name: string, value: unknown, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  for (const method of methods) {
    if (typeof object[method] !== "function")
      throw new TypeError(`${name} must have a method ${method}(), got ${show(value)}`);
  }
}
