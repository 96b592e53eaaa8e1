import { type Command, InvalidArgumentError, Option } from "commander";
import {
  commonOptions,
  createCommand,
  limitDuration,
  pattern,
  positiveDuration,
  wholeNumber,
  zeroOrDuration,
} from "./arguments.ts";
import type { OutputOptions } from "./output.ts";
import { isSignalName } from "./process-group.ts";

/** The options of `holdfast retry`. */
export interface RetryCliOptions extends OutputOptions {
  readonly attempts: number;
  readonly delay: number;
  readonly factor: number;
  readonly cap: number;
  readonly jitter: "full" | "equal" | number;
  readonly delays?: readonly number[];
  readonly timeout: number;
  readonly deadline: number;
  readonly on?: readonly string[];
  readonly notOn?: readonly string[];
  readonly onOutput?: RegExp;
  readonly untilFails?: boolean;
  readonly buffer?: boolean;
  readonly stdin?: boolean;
  readonly grace: number;
  readonly shell?: string;
}

function attemptsOf(text: string): number {
  return text === "inf" ? Number.POSITIVE_INFINITY : wholeNumber(1, undefined, "inf or ")(text);
}

function factorOf(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 1 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected a number, at least 1.");
}

function jitterOf(text: string): "full" | "equal" | number {
  if (text === "full" || text === "equal") return text;
  if (text === "none") return 0;
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected full, equal, none or a factor such as 0.1.");
}

function outcomesOf(text: string): readonly string[] {
  return text.split(",").map((word) => {
    if (word === "timeout" || isSignalName(word)) return word;
    if (/^\d+$/.test(word)) return String(Number(word));
    throw new InvalidArgumentError(
      "Expected exit codes, timeout or signals, as in 1,timeout,SIGKILL.",
    );
  });
}

/** The parser of the arguments before `--`. */
export function retryParser(): Command {
  const parser = createCommand("holdfast retry")
    .usage("[options] -- COMMAND...")
    .description("Runs COMMAND until it exits with 0, with growing delays between the attempts.")
    .addOption(
      new Option("--attempts <number>", "number of runs in all, at least 1, or inf")
        .argParser(attemptsOf)
        .default(5),
    )
    .addOption(
      new Option("--delay <duration>", "first delay, from the end of an attempt; 0 for none")
        .argParser(zeroOrDuration)
        .default(1_000, "1s"),
    )
    .addOption(
      new Option("--factor <number>", "growth of the delays").argParser(factorOf).default(2),
    )
    .addOption(
      new Option("--cap <duration>", "longest delay")
        .argParser(positiveDuration)
        .default(30_000, "30s"),
    )
    .addOption(
      new Option("--jitter <form>", "full, equal, none or a factor such as 0.1")
        .argParser(jitterOf)
        .default("full"),
    )
    .addOption(
      new Option("--delays <list>", "exact delays, such as 1s,5s,30s; the last one repeats")
        .argParser((text: string) => text.split(",").map(zeroOrDuration))
        .conflicts(["delay", "factor", "cap", "jitter"]),
    )
    .addOption(
      new Option("--timeout <duration>", "time limit of an attempt; 0 for none")
        .argParser(limitDuration)
        .default(Number.POSITIVE_INFINITY, "none"),
    )
    .addOption(
      new Option("--deadline <duration>", "time limit of all attempts and delays; 0 for none")
        .argParser(limitDuration)
        .default(Number.POSITIVE_INFINITY, "none"),
    )
    .option("--on <list>", "retry these only: exit codes, timeout, SIGKILL, …", outcomesOf)
    .option("--not-on <list>", "never retry these", outcomesOf)
    .option("--on-output <regex>", "retry only if stderr matches /REGEX/", pattern)
    .addOption(
      new Option("--until-fails", "run COMMAND until it fails").conflicts([
        "on",
        "notOn",
        "onOutput",
      ]),
    )
    .option("--buffer", "print the output of the last attempt only")
    .option("--stdin", "read stdin once and give it to each attempt");
  return commonOptions(parser)
    .helpOption("--help", "show this help")
    .addHelpText(
      "after",
      `
An attempt has ended when COMMAND and its descendants have. COMMAND sees HOLDFAST_ATTEMPT and HOLDFAST_LAST_EXIT.

Exit code: that of the last attempt; 124 time over, 125 holdfast failed, 126 not executable, 127 not found,
128 + N signal N. 126 and 127 are not retried unless --on names them.
`,
    )
    .allowExcessArguments(true)
    .configureOutput({ writeErr: (text) => process.stderr.write(text) });
}
