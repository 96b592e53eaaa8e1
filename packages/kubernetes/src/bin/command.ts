import { optional as load } from "@holdfast/controller/internal";

/** What a command prints, and the code that its process exits with. */
export interface Result {
  readonly output: string;
  readonly code: 0 | 1;
}

/** @throws Error that says what to install, if an optional package is missing */
export function optional<T>(name: string, loading: Promise<T>): Promise<T> {
  return load(name, loading, "--save-dev ");
}

/** @throws RangeError if there are none */
export function requirePositionals(what: string, given: readonly string[]): void {
  if (given.length === 0) throw new RangeError(`${what} is missing; see --help`);
}
