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

/** Reads the arguments of the command line, without those of Node. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const command = new Command("npm run dns-sync --")
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
  try {
    command.parse(args, { from: "user" });
    const { real, cluster, check, minutes, ...numbers } = command.opts();
    if (real && cluster) command.error("error: --real and --cluster are two API servers");
    if (check && minutes !== undefined) command.error("error: --check and --minutes are two runs");
    const api = real ? "real" : cluster ? "cluster" : "double";
    const mode = check ? "check" : minutes === undefined ? "page" : "soak";
    const { seed, records, port } = numbers as Pick<Settings, "seed" | "records" | "port">;
    return { kind: "run", settings: { api, mode, minutes: minutes ?? 0, seed, records, port } };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "print", text: printed.join(""), code: error.exitCode === 0 ? 0 : 2 };
  }
}
