import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { duration, wholeNumber } from "../terminal/arguments.ts";
import { formatDuration } from "../terminal/duration.ts";

/** Options of the command line. Durations are in milliseconds. */
export interface Options {
  readonly file: string;
  /** Length of the run; `Infinity` with --forever. */
  readonly duration: number;
  /** Grace period; undefined for that of the manifest. */
  readonly grace: number | undefined;
  /** Directory of the logs; undefined for one that is removed at the end. */
  readonly logs: string | undefined;
  /** Port of the page; 0 for a free port, undefined for no page. */
  readonly port: number | undefined;
  /** Number of supervisors to start, one of which leads; undefined for this one alone. */
  readonly replicas: number | undefined;
  /** Directory of the shared lock; undefined for a supervisor without replicas. */
  readonly lock: string | undefined;
  /** Name of this supervisor among its replicas. */
  readonly identity: string;
  /** Length of the lease of the leader. */
  readonly lease: number;
}

/** Options, or a text to print and an exit code. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly options: Options }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

/** Options as commander returns them. */
interface Parsed extends Omit<Options, "duration" | "port" | "identity"> {
  readonly for: number;
  readonly forever?: boolean;
  readonly port: number;
  readonly page: boolean;
  readonly identity?: string;
}

/** Lies beside the sources: the build copies no YAML. */
const SHIPPED = fileURLToPath(new URL("../../src/supervisor/demo/demo.yaml", import.meta.url));
const DEFAULT_DURATION = 20_000;
const DEFAULT_LEASE = 3_000;
/** A leader renews six times per lease, with reads and writes of files. Milliseconds. */
const LEAST_LEASE = 500;
const LAST_PORT = 65_535;

function leaseOf(text: string): number {
  const lease = duration(text);
  if (lease >= LEAST_LEASE) return lease;
  throw new InvalidArgumentError(`Expected at least ${formatDuration(LEAST_LEASE)}.`);
}

/** The shorter of the absolute and the relative path. */
function shortest(file: string): string {
  const fromHere = relative(process.cwd(), file);
  return fromHere.length < file.length ? fromHere : file;
}

function createCommand(print: (text: string) => void): Command {
  const file = new Option("--file <path>", "YAML manifest; edits take effect at once");
  const time = new Option("--for <duration>", "stop after this time")
    .argParser(duration)
    .default(DEFAULT_DURATION, formatDuration(DEFAULT_DURATION));
  const lease = new Option("--lease <duration>", "length of the lease of the leader")
    .argParser(leaseOf)
    .default(DEFAULT_LEASE, formatDuration(DEFAULT_LEASE));
  return new Command("npm start --")
    .description("Runs the processes of a manifest and restarts them like a kubelet.")
    .addOption(file.default(SHIPPED, "the shipped demo.yaml"))
    .addOption(time.conflicts("forever"))
    .option("--forever", "run until Ctrl-C or SIGTERM")
    .option("--grace <duration>", "time between SIGTERM and SIGKILL", duration)
    .option("--logs <directory>", "directory for the output of the processes")
    .option(
      "--port <number>",
      "port of the page; 0 picks a free port",
      wholeNumber(0, LAST_PORT),
      0,
    )
    .option("--no-page", "do not serve the page")
    .option("--replicas <number>", "number of supervisors; one of them leads", wholeNumber(1, 9))
    .addOption(lease)
    .option(
      "--lock <directory>",
      "directory of a shared lock; without --replicas, join as a replica",
    )
    .option("--identity <name>", "name of this replica")
    .helpOption("--help", "show this help")
    .addHelpText("after", "\nA second Ctrl-C kills all processes at once.\n")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}

function requireLinux(command: Command): void {
  const { replicas, lock } = command.opts<Parsed>();
  if ((replicas !== undefined || lock !== undefined) && process.platform !== "linux")
    command.error("error: --replicas and --lock need Linux: they read /proc");
}

/** Rejects options without an effect. */
function requireReplicas(command: Command): void {
  const { replicas, lock, identity } = command.opts<Parsed>();
  if (identity !== undefined && lock === undefined)
    command.error("error: --identity needs --lock: only a replica has a name");
  const isAlone = replicas === undefined && lock === undefined;
  if (isAlone && command.getOptionValueSource("lease") === "cli")
    command.error("error: --lease needs --replicas or --lock: a single supervisor has no lease");
}

/** Parses the arguments of the command line, without those of Node. */
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
    grace,
    logs,
    replicas,
    lock,
    identity,
    lease,
    file: shortest(parsed.file),
    duration: forever === true ? Number.POSITIVE_INFINITY : time,
    port: page ? port : undefined,
  };
  return { kind: "run", options };
}
