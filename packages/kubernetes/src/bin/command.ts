/** What a command prints, and the code that its process exits with. */
export interface Result {
  readonly output: string;
  readonly code: 0 | 1;
}

/** @throws Error that says what to install, if an optional package is missing */
export async function optional<T>(name: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(`this command needs the package ${name}: npm install --save-dev ${name}`);
  }
}

/** @throws RangeError if there are none */
export function requirePositionals(what: string, given: readonly string[]): void {
  if (given.length === 0) throw new RangeError(`${what} is missing; see --help`);
}
