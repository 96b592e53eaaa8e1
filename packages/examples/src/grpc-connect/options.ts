import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { formatDuration, parseDuration } from "../supervisor/manifest/duration.ts";

/** What the command line asks for. Durations are in milliseconds. */
export interface Options {
  readonly initial: number;
  readonly minConnectTimeout: number;
  readonly hold: number;
  /** Undefined for a jitter that is different each time. */
  readonly seed: number | undefined;
}

/** Options, or a text to print and the exit code to end with. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

function durationOf(text: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined && duration > 0) return duration;
  throw new InvalidArgumentError('Expected a duration above 0, such as "500ms", "20s" or "1m30s".');
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (Number.isSafeInteger(seed)) return seed;
  throw new InvalidArgumentError("Expected a whole number.");
}

function duration(flags: string, about: string, value: number): Option {
  const option = new Option(`${flags} <duration>`, about);
  return option.argParser(durationOf).default(value, formatDuration(value));
}

function createCommand(print: (text: string) => void): Command {
  const least = "how long an attempt may take at least; gRPC: 20s";
  return new Command("npm run grpc-connect --")
    .description("Stays connected to a server that refuses, hangs, resets, accepts and dies.")
    .addOption(duration("--initial", "the first delay; gRPC: 1s", 500))
    .addOption(duration("--min-connect-timeout", least, 2_000))
    .addOption(duration("--hold", "how long a connection stands before the server dies", 2_000))
    .option("--seed <number>", "repeats the jitter of another run", seedOf)
    .helpOption("--help", "show this")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}

/** Reads the arguments of the command line, without those of Node. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const command = createCommand((text) => printed.push(text));
  try {
    command.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "print", text: printed.join(""), code: error.exitCode === 0 ? 0 : 2 };
  }
  const { initial, minConnectTimeout, hold, seed } = command.opts<Options>();
  return { kind: "run", options: { initial, minConnectTimeout, hold, seed } };
}
