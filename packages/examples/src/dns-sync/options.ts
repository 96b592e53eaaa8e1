import { Command, CommanderError } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";

/** How a run goes. */
export interface Settings {
  /** The API server: a double in this process, a real one, or that of kubectl. */
  readonly api: "double" | "real" | "cluster";
  /** `page`: until Ctrl-C. `check`: 30 s of faults. `soak`: faults for minutes. */
  readonly mode: "page" | "check" | "soak";
  readonly minutes: number;
  readonly seed: number;
  readonly records: number;
  readonly port: number;
}

/** What the command line asks for, or a text to print and the exit code to end with. */
export type ParsedOptions =
  | { readonly kind: "run"; readonly settings: Settings }
  | { readonly kind: "print"; readonly text: string; readonly code: number };

const LAST_PORT = 65_535;
const ONE_DAY = 24 * 60;

interface Flags extends Pick<Settings, "seed" | "records" | "port"> {
  readonly real: boolean;
  readonly cluster: boolean;
  readonly check: boolean;
  readonly minutes?: number;
}

/** Reads the arguments of the command line, without those of Node. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const command = createCommand((text) => void printed.push(text));
  try {
    command.parse(args, { from: "user" });
    const flags = command.opts<Flags>();
    if (flags.real && flags.cluster)
      command.error("error: --real and --cluster are two API servers");
    if (flags.check && flags.minutes !== undefined)
      command.error("error: --check and --minutes are two runs");
    return { kind: "run", settings: settingsOf(flags) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "print", text: printed.join(""), code: error.exitCode === 0 ? 0 : 2 };
  }
}

function settingsOf({ real, cluster, check, minutes, seed, records, port }: Flags): Settings {
  const remote = real ? "real" : "cluster";
  const timed = check ? "check" : "soak";
  return {
    api: real || cluster ? remote : "double",
    mode: check || minutes !== undefined ? timed : "page",
    ...{ minutes: minutes ?? 0, seed, records, port },
  };
}

function createCommand(print: (text: string) => void): Command {
  return new Command("npm run dns-sync --")
    .description(
      "Keeps a flaky DNS provider equal to DnsRecord objects, in three replicas, while everything fails.",
    )
    .option("--real", "a real API server on this machine, built first if need be", false)
    .option("--cluster", "the cluster of kubectl's current context", false)
    .option("--check", "30 s of scripted faults, then an exit code", false)
    .option("--minutes <number>", "faults for so long, then an exit code", wholeNumber(1, ONE_DAY))
    .option("--seed <number>", "which faults, and when", wholeNumber(0, 2 ** 31), 1)
    .option("--records <number>", "how many records", wholeNumber(10, 10_000), 60)
    .option("--port <number>", "port of the page", wholeNumber(0, LAST_PORT), 0)
    .helpOption("--help", "show this")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}
