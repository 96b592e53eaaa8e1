// What both commands read from the command line: the cut at `--`, durations, numbers, patterns.
import { Command, InvalidArgumentError, Option } from "commander";
import { printable } from "./printable.ts";

/** Arguments of holdfast, and the command after the first `--`; undefined without one. */
export interface Cut {
  readonly own: readonly string[];
  readonly command: readonly string[] | undefined;
}

/**
 * Cuts arguments at the first `--`, before any parser sees them: commander would take options of the
 * command for its own.
 */
export function cutArguments(args: readonly string[]): Cut {
  const at = args.indexOf("--");
  if (at < 0) return { own: args, command: undefined };
  // Written twice for npm exec, and kept by npx.
  const isTwice = args[at + 1] === "--";
  return { own: args.slice(0, at), command: args.slice(at + (isTwice ? 2 : 1)) };
}

/** Program and arguments to start. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
}

/** Runs a line with /bin/sh. */
export function shellLaunch(line: string): Launch {
  return { file: "/bin/sh", args: ["-c", line] };
}

/** The words after `--`, or the line of `--shell`. */
export function launchOf(
  parser: Command,
  command: readonly string[] | undefined,
  shell: string | undefined,
): Launch | undefined {
  if (command !== undefined && shell !== undefined)
    usage(parser, "give the command after -- or with --shell, not both");
  if (shell !== undefined) return shellLaunch(shell);
  const [file, ...args] = command ?? [];
  if (file !== undefined && file !== "") return { file, args };
  if (command !== undefined) usage(parser, "there is no command after --");
  return undefined;
}

/** `npm exec` removes the first `--`; npx keeps it. */
export const DASHES_HINT =
  "Options end at --, then comes the command. npm exec removes the first --: write it twice, or use npx, or --shell 'LINE'";

/** A parser that throws where commander would exit, and repeats wrong arguments without their escape codes. */
export function createCommand(name: string): Command {
  const safely = (text: string): string => text.split("\n").map(printable).join("\n");
  return new Command(name)
    .configureOutput({ outputError: (text, write) => write(safely(text)) })
    .exitOverride();
}

/** Ends with exit code 2 and a message. */
export function usage(parser: Command, message: string): never {
  parser.error(`error: ${printable(message)}`);
}

/** Options of every command. */
export function commonOptions(parser: Command): Command {
  return parser
    .option("--shell <line>", "run LINE with /bin/sh, in place of -- COMMAND")
    .addOption(
      new Option("--grace <duration>", "time between a stop signal and SIGKILL")
        .argParser(duration)
        .default(10_000, "10s"),
    )
    .addOption(new Option("-q, --quiet", "print errors only").conflicts("verbose"))
    .option("-v, --verbose", "print every check and delay");
}

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;

/** Parses a duration such as `500ms`, `2s` or `1m30s`, in milliseconds. */
export function duration(text: string): number {
  return parseDuration(text) ?? noDuration(text, "a duration");
}

/** Parses a duration, or `0`. */
export function zeroOrDuration(text: string): number {
  return text === "0" ? 0 : (parseDuration(text) ?? noDuration(text, "0 or a duration"));
}

function noDuration(text: string, expected: string): never {
  const hint = /^\d+(\.\d+)?$/.test(text) ? ` ${text} has no unit: ${text}s or ${text}ms?` : "";
  throw new InvalidArgumentError(`Expected ${expected} such as 500ms, 2s or 1m30s.${hint}`);
}

/** @returns milliseconds; undefined if the text is no duration with units */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    total += Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
  return total;
}

/** A duration above 0. */
export function positiveDuration(text: string): number {
  const value = text === "0" ? 0 : duration(text);
  if (value > 0) return value;
  throw new InvalidArgumentError("Expected more than 0.");
}

/** A duration; `0` is no limit. */
export function limitDuration(text: string): number {
  return zeroOrDuration(text) || Number.POSITIVE_INFINITY;
}

/** Formats milliseconds: `7ms`, `2.04s`, `4m10s`, `2h05m`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 9_995) return `${Number((milliseconds / 1_000).toFixed(2))}s`;
  const seconds = Math.round(milliseconds / 1_000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h${two(Math.floor((seconds % 3_600) / 60))}m`;
}

/** Returns a parser for whole numbers of at least `min`, and at most `max`. Its message names `or` before them. */
export function wholeNumber(min: number, max?: number, or = ""): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const isInRange = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER);
    if (/^\d+$/.test(text) && isInRange) return value;
    const range = max === undefined ? `, at least ${min}` : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`Expected ${or}a whole number${range}.`);
  };
}

/** Parses `/REGEX/FLAGS`. */
export function pattern(text: string): RegExp {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === undefined) throw new InvalidArgumentError("Expected /REGEX/, such as /timeout/i.");
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
