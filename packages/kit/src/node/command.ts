import { readText } from "./read-file.ts";

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

/** What a command prints, and the code that its process exits with. */
export interface Result {
  readonly output: string;
  readonly code: 0 | 1;
}

/** @throws Error that says what to install, if an optional package is missing */
export function loadOptional<T>(name: string, loading: Promise<T>): Promise<T> {
  return optional(name, loading, "--save-dev ");
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

/** What a run of the command line writes, and the code that its process exits with. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command that the first argument names with the others, or prints the usage. */
export async function runCommands(
  usage: string,
  commands: ReadonlyMap<string | undefined, (args: string[]) => Promise<Result>>,
  args: readonly string[],
): Promise<Run> {
  if (args.some((arg) => arg === "--help" || arg === "-h"))
    return { code: 0, stdout: usage, stderr: "" };
  const [name, ...rest] = args;
  try {
    const command = commands.get(name);
    if (command === undefined)
      throw new RangeError(
        `COMMAND must be one of ${[...commands.keys()].join(", ")}, got ${name ?? "none"}; see --help`,
      );
    const { output, code } = await command(rest);
    return { code, stdout: output, stderr: "" };
  } catch (error) {
    return { code: 2, stdout: "", stderr: `error: ${problemOf(error)}\n` };
  }
}

/** Ends this process with a run. A module that a command has imported may keep it alive: it ends when the text is written. */
export function end({ code, stdout, stderr }: Run): void {
  if (stderr !== "") process.stderr.write(stderr, () => process.exit(code));
  else process.stdout.write(stdout, () => process.exit(code));
}
