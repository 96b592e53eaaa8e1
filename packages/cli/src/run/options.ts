import { type Command, Option } from "commander";
import {
  type Cut,
  createCommand,
  duration,
  positiveDuration,
  usage,
  wholeNumber,
} from "../arguments.ts";
import type { OutputOptions } from "../output.ts";

/** Options of `holdfast run`. Durations are in milliseconds. */
export interface RunOptions extends OutputOptions {
  /** The manifest; `-` for stdin. */
  readonly file: string;
  /** The processes to run, with those that they depend on; all without names. */
  readonly names: readonly string[];
  /** Length of the run; undefined for no limit. */
  readonly for?: number;
  readonly keepRunning?: boolean;
  /** Overrides the grace periods of the manifest. */
  readonly grace?: number;
  /** Directory of the logs. */
  readonly logs?: string;
  /** Port of the page; 0 for a free port. */
  readonly port: number;
  readonly page: boolean;
  readonly raw?: boolean;
  /** Whether to print the output of the processes. */
  readonly output: boolean;
}

const LAST_PORT = 65_535;

/** The parser of `holdfast run FILE`. */
function createRunParser(): Command {
  return createCommand("holdfast run")
    .usage("[options] FILE|- [NAME...]")
    .description(
      "Runs the processes of a YAML manifest and restarts them when they crash: all, or those that are named, with those that they depend on.",
    )
    .argument("[file]")
    .argument("[name...]")
    .option("--for <duration>", "stop after this time", positiveDuration)
    .option("--keep-running", "go on when all processes have completed or failed")
    .option(
      "--grace <duration>",
      "time between a stop signal and SIGKILL, for all processes",
      duration,
    )
    .option("--logs <directory>", "write the output of each process to NAME.log, 5 files of 10 MB")
    .option("--raw", "print the output of the processes as it is, without their names")
    .option("--no-output", "do not print the output of the processes")
    .addOption(
      new Option("--port <number>", "port of the page; 0 for a free one")
        .argParser(wholeNumber(0, LAST_PORT))
        .default(0),
    )
    .option("--no-page", "do not serve the page")
    .addOption(new Option("-q, --quiet", "print errors only").conflicts("verbose"))
    .option("-v, --verbose", "print every detail")
    .helpOption("--help", "show this help")
    .addHelpText(
      "after",
      `
Other commands:
  holdfast run check FILE      checks a manifest
  holdfast run status          shows the processes of a running supervisor
  holdfast run restart NAME    restarts a process
  holdfast run stop NAME       stops a process until it is restarted
  holdfast run page            prints the address of the page, with its token
  holdfast run logs NAME       prints the last lines of a process
  holdfast run import FILE     prints a Procfile or a process-compose.yaml as a manifest

Exit code: 0 when all processes have completed, 1 if one has failed; that of a process with exitOnEnd;
128 + N after signal N; 125 holdfast failed; 2 for a manifest or arguments that are wrong.
`,
    );
}

/** Reads the arguments of `holdfast run FILE`. */
export function parseRunOptions({ own, command }: Cut): RunOptions {
  const parser = createRunParser();
  parser.parse(own, { from: "user" });
  const [file, ...names] = parser.args;
  if (command !== undefined)
    usage(parser, "the commands are in the manifest: nothing may follow --");
  if (file === undefined) usage(parser, "there is no manifest: give a file, or - for stdin");
  return { file, names, ...parser.opts<Omit<RunOptions, "file" | "names">>() };
}
