import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { formatDuration, parseDuration } from "./manifest/duration.ts";

/** What the command line asks for. Durations are in milliseconds. */
export interface Options {
  readonly file: string;
  /** How long to run; `Infinity` with --forever. */
  readonly duration: number;
  /** Overrides the grace period of the manifest. */
  readonly grace: number | undefined;
  /** Where logs are kept; undefined for a directory that is removed at the end. */
  readonly logs: string | undefined;
}

/** Options, or a text to print and the exit code to end with. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

/** Stands beside the sources: what is built contains no YAML. */
const SHIPPED = fileURLToPath(new URL("../../src/supervisor/demo/demo.yaml", import.meta.url));
const DEFAULT_DURATION = 20_000;

function durationOf(text: string): number {
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  throw new InvalidArgumentError('Expected a duration such as "500ms", "20s" or "1m30s".');
}

/** The way to a file that a reader has less to read of. */
function shortest(file: string): string {
  const fromHere = relative(process.cwd(), file);
  return fromHere.length < file.length ? fromHere : file;
}

function createCommand(print: (text: string) => void): Command {
  const file = new Option("--file <path>", "the manifest, YAML; edits are picked up");
  const time = new Option("--for <duration>", "stop after this time")
    .argParser(durationOf)
    .default(DEFAULT_DURATION, formatDuration(DEFAULT_DURATION));
  return new Command("npm start --")
    .description("Runs the processes of a manifest and keeps them running, as a kubelet does.")
    .addOption(file.default(SHIPPED, "the shipped demo.yaml"))
    .addOption(time.conflicts("forever"))
    .option("--forever", "run until Ctrl-C or SIGTERM")
    .option("--grace <duration>", "wait this long between SIGTERM and SIGKILL", durationOf)
    .option("--logs <directory>", "keep what the processes write here")
    .helpOption("--help", "show this")
    .addHelpText("after", "\nA second Ctrl-C kills everything at once.\n")
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
  const parsed = command.opts<Omit<Options, "duration"> & { for: number; forever?: boolean }>();
  const { grace, logs, forever } = parsed;
  const file = shortest(parsed.file);
  const duration = forever === true ? Number.POSITIVE_INFINITY : parsed.for;
  return { kind: "run", options: { file, duration, grace, logs } };
}
