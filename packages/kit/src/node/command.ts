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

/** Where a command writes. */
export interface Output {
  /** Writes to stdout: what was asked for. */
  readonly print: (text: string) => void;
  /** Writes a line to stderr: what a person should know. */
  readonly note: (line: string) => void;
}

/** A command: its arguments to its exit code. It throws if the arguments are wrong, or the work cannot be done. */
export type Command<Io extends Output = Output> = (
  args: string[],
  io: Io,
) => Promise<number> | number;

/** A command line. */
export interface CommandLine<Io extends Output> {
  /** The text of `--help`. */
  readonly usage: string;
  /** The commands by name; or the only one, which has no name. */
  readonly commands: ReadonlyMap<string | undefined, Command<Io>> | Command<Io>;
  /** An error in one line. Default: {@link problemOf}. */
  readonly problem?: (error: unknown) => string;
}

/**
 * Runs the command that the first argument names with the others, or prints the usage.
 *
 * @returns the exit code: that of the command, or 2 after a line about an error
 */
export async function runCommands<Io extends Output>(
  { usage, commands, problem = problemOf }: CommandLine<Io>,
  args: readonly string[],
  io: Io,
): Promise<number> {
  if (args.some((arg) => arg === "--help" || arg === "-h")) {
    io.print(usage);
    return 0;
  }
  try {
    if (typeof commands === "function") return await commands([...args], io);
    const [name, ...rest] = args;
    const command = commands.get(name);
    if (command !== undefined) return await command(rest, io);
    const names = [...commands.keys()].join(", ");
    throw new RangeError(`COMMAND must be one of ${names}, got ${name ?? "none"}; see --help`);
  } catch (error) {
    io.note(`error: ${problem(error)}`);
    return 2;
  }
}

/**
 * Runs a command line in this process, which then ends with the code that `run` resolves with.
 *
 * @param flush - resolves when the readers have all that was written
 */
export async function main(
  run: (args: readonly string[], output: Output) => Promise<number>,
  flush: () => Promise<unknown> = written,
): Promise<void> {
  // A reader that closes the pipe early, such as `head`, must not end the command.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  process.exitCode = await run(process.argv.slice(2), {
    print: (text) => void process.stdout.write(text),
    note: (line) => void process.stderr.write(`${line}\n`),
  });
  await flush();
  process.exit(); // A connection, or a module that a command has imported, keeps nothing running.
}

/** Resolves when stdout and stderr have passed on all that was written, or their readers have gone. */
async function written(): Promise<void> {
  for (const output of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => output.write("", () => resolve()));
}
