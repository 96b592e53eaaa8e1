import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { duration, wholeNumber } from "../terminal/arguments.ts";
import { formatDuration } from "../terminal/duration.ts";

/** What the command line asks for. Durations are in milliseconds. */
export interface Options {
  readonly file: string;
  /** How long to run; `Infinity` with --forever. */
  readonly duration: number;
  /** Overrides the grace period of the manifest. */
  readonly grace: number | undefined;
  /** Where logs are kept; undefined for a directory that is removed at the end. */
  readonly logs: string | undefined;
  /** Where the page is served; 0 for a port that is free, undefined for no page. */
  readonly port: number | undefined;
  /** How many supervisors to run, of which one works; undefined for none but this one. */
  readonly replicas: number | undefined;
  /** Where supervisors meet of which one works; undefined if this is the only one. */
  readonly lock: string | undefined;
  /** Its name among them. */
  readonly identity: string;
  /** How long the others wait for one that is silent. */
  readonly lease: number;
}

/** Options, or a text to print and the exit code to end with. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

/** Options as commander has them. */
interface Parsed extends Omit<Options, "duration" | "port" | "identity"> {
  readonly for: number;
  readonly forever?: boolean;
  readonly port: number;
  readonly page: boolean;
  readonly identity?: string;
}

/** Stands beside the sources: what is built contains no YAML. */
const SHIPPED = fileURLToPath(new URL("../../src/supervisor/demo/demo.yaml", import.meta.url));
const DEFAULT_DURATION = 20_000;
const DEFAULT_LEASE = 3_000;
/** Six times in a lease files are read and written to renew it. Milliseconds. */
const LEAST_LEASE = 500;
const LAST_PORT = 65_535;

function leaseOf(text: string): number {
  const lease = duration(text);
  if (lease >= LEAST_LEASE) return lease;
  throw new InvalidArgumentError(`Expected at least ${formatDuration(LEAST_LEASE)}.`);
}

/** The way to a file that a reader has less to read of. */
function shortest(file: string): string {
  const fromHere = relative(process.cwd(), file);
  return fromHere.length < file.length ? fromHere : file;
}

function createCommand(print: (text: string) => void): Command {
  const file = new Option("--file <path>", "the manifest, YAML; edits are picked up");
  const time = new Option("--for <duration>", "stop after this time")
    .argParser(duration)
    .default(DEFAULT_DURATION, formatDuration(DEFAULT_DURATION));
  const lease = new Option("--lease <duration>", "how long replicas wait for a silent leader")
    .argParser(leaseOf)
    .default(DEFAULT_LEASE, formatDuration(DEFAULT_LEASE));
  return new Command("npm start --")
    .description("Runs the processes of a manifest and keeps them running, as a kubelet does.")
    .addOption(file.default(SHIPPED, "the shipped demo.yaml"))
    .addOption(time.conflicts("forever"))
    .option("--forever", "run until Ctrl-C or SIGTERM")
    .option("--grace <duration>", "wait this long between SIGTERM and SIGKILL", duration)
    .option("--logs <directory>", "keep what the processes write here")
    .option("--port <number>", "serve the page here", wholeNumber(0, LAST_PORT), 0)
    .option("--no-page", "serve no page")
    .option("--replicas <number>", "run so many supervisors, one leads", wholeNumber(1, 9))
    .addOption(lease)
    .option("--lock <directory>", "where replicas meet; without --replicas, be one of them")
    .option("--identity <name>", "its name as a replica")
    .helpOption("--help", "show this")
    .addHelpText("after", "\nA second Ctrl-C kills everything at once.\n")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}

function requireLinux(command: Command): void {
  const { replicas, lock } = command.opts<Parsed>();
  if ((replicas !== undefined || lock !== undefined) && process.platform !== "linux")
    command.error("error: --replicas and --lock need Linux: they look into /proc");
}

/** What would be read and then have no effect is refused. */
function requireReplicas(command: Command): void {
  const { replicas, lock, identity } = command.opts<Parsed>();
  if (identity !== undefined && lock === undefined)
    command.error("error: --identity needs --lock: only one of several supervisors has a name");
  const isAlone = replicas === undefined && lock === undefined;
  if (isAlone && command.getOptionValueSource("lease") === "cli")
    command.error("error: --lease needs --replicas or --lock: one supervisor alone has no lease");
}

/** Reads the arguments of the command line, without those of Node. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const command = createCommand((text) => printed.push(text));
  try {
    command.parse(args, { from: "user" });
    requireReplicas(command);
    requireLinux(command);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "print", text: printed.join(""), code: error.exitCode === 0 ? 0 : 2 };
  }
  const { for: time, forever, page, port, ...parsed } = command.opts<Parsed>();
  const { grace, logs, replicas, lock, lease } = parsed;
  const { identity = lock === undefined ? "supervisor" : `supervisor-${process.pid}` } = parsed;
  const options: Options = {
    ...{ grace, logs, replicas, lock, identity, lease },
    file: shortest(parsed.file),
    duration: forever === true ? Number.POSITIVE_INFINITY : time,
    port: page ? port : undefined,
  };
  return { kind: "run", options };
}
