import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { duration } from "../terminal/arguments.ts";
import { formatDuration } from "../terminal/duration.ts";

/** Options of the command line. Durations are in milliseconds. */
export interface Options {
  readonly initial: number;
  readonly minConnectTimeout: number;
  readonly hold: number;
  /** Seed of the jitter; undefined for a different jitter in each run. */
  readonly seed: number | undefined;
}

/** Options, or a text to print and an exit code. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

function positiveDuration(text: string): number {
  const value = duration(text);
  if (value > 0) return value;
  throw new InvalidArgumentError("Expected a duration above 0.");
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (Number.isSafeInteger(seed)) return seed;
  throw new InvalidArgumentError("Expected a whole number.");
}

function durationOption(flags: string, about: string, value: number): Option {
  const option = new Option(`${flags} <duration>`, about);
  return option.argParser(positiveDuration).default(value, formatDuration(value));
}

function createCommand(print: (text: string) => void): Command {
  const least = "minimum time limit of an attempt; gRPC: 20s";
  return new Command("npm run grpc-connect --")
    .description("Keeps a connection to a server that refuses, hangs, resets, accepts and dies.")
    .addOption(durationOption("--initial", "first delay; gRPC: 1s", 500))
    .addOption(durationOption("--min-connect-timeout", least, 2_000))
    .addOption(
      durationOption("--hold", "time from each connection to the death of the server", 2_000),
    )
    .option("--seed <number>", "seed of the jitter; equal seeds give equal delays", seedOf)
    .helpOption("--help", "show this help")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}

/** Parses the arguments of the command line, without those of Node. */
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
