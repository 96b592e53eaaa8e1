/**
 * Loads an optional package.
 *
 * @throws Error that says what to install, if it is missing
 */
export async function optional<T>(name: string, loading: Promise<T>, flags = ""): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(`this command needs the package ${name}: npm install ${flags}${name}`);
  }
}

/**
 * An error of a command in one line, without Node's advice on positional arguments that begin with a hyphen. An error
 * of several attempts to connect has no message: the first of them has.
 */
export function problemOf(error: unknown): string {
  const { message, code, errors } = (error ?? {}) as Partial<
    NodeJS.ErrnoException & AggregateError
  >;
  const first = (errors?.[0] as Error | undefined)?.message;
  const text = message || first || code || String(error);
  const [line = ""] = text.trim().split("\n");
  return line.split(". To specify a positional")[0] as string;
}
