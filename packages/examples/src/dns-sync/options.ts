import { Command, CommanderError } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";

/** Settings of a run. */
export interface Settings {
  /** The API server: a fake in this process, a real one on this machine, or kubectl's current context. */
  readonly api: "fake" | "real" | "cluster";
  /** `page`: until Ctrl-C. `check`: 30 s of faults. `soak`: faults for `minutes`. */
  readonly mode: "page" | "check" | "soak";
  readonly minutes: number;
  readonly seed: number;
  readonly records: number;
  readonly port: number;
}

/** Settings to run with, or a text to print and an exit code. */
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

/** @param args - arguments after the program's path */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const command = createCommand((text) => void printed.push(text));
  try {
    command.parse(args, { from: "user" });
    const flags = command.opts<Flags>();
    if (flags.real && flags.cluster) command.error("error: --real cannot be used with --cluster");
    if (flags.check && flags.minutes !== undefined)
      command.error("error: --check cannot be used with --minutes");
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
    api: real || cluster ? remote : "fake",
    mode: check || minutes !== undefined ? timed : "page",
    minutes: minutes ?? 0,
    seed,
    records,
    port,
  };
}

function createCommand(print: (text: string) => void): Command {
  return new Command("npm run dns-sync --")
    .description(
      "Runs three replicas of an operator that syncs DnsRecord objects to a DNS provider, under faults.",
    )
    .option("--real", "use a real API server on this machine; the first start builds it", false)
    .option("--cluster", "use the cluster of kubectl's current context", false)
    .option(
      "--check",
      "run 30 s of scripted faults and the checks after them, about a minute; exit with 0 if every invariant held, else 1",
      false,
    )
    .option(
      "--minutes <number>",
      "run that many minutes of faults, then exit with a code",
      wholeNumber(1, ONE_DAY),
    )
    .option(
      "--seed <number>",
      "seed for the order and times of the faults",
      wholeNumber(0, 2 ** 31),
      1,
    )
    .option("--records <number>", "number of records", wholeNumber(10, 10_000), 60)
    .option(
      "--port <number>",
      "port of the page; 0 picks a free port",
      wholeNumber(0, LAST_PORT),
      0,
    )
    .helpOption("--help", "show this help")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: print })
    .exitOverride();
}
