import { optional as load, readText } from "@holdfast/controller/internal";

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

/** Longest file, in bytes: the definitions of a cluster are a few megabytes. */
const LONGEST = 64_000_000;

/**
 * The text of a file.
 *
 * @param pipes - whether it may be a pipe, as of `<(…)` in a shell
 * @throws Error that says why it cannot be read
 */
export function textOf(file: string, { pipes }: { readonly pipes: boolean }): string {
  try {
    return readText(file, { pipes, longest: LONGEST });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be read (${code ?? message})`);
  }
}
