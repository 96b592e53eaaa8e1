import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@holdfast/clock";
import { readBytes, readChunks, readPart } from "@holdfast/controller/internal";
import { type BackoffOptions, type BackoffStrategy, retry } from "@holdfast/wait";
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type Cut,
  commonOptions,
  createCommand,
  DASHES_HINT,
  duration,
  formatDuration,
  type Launch,
  launchOf,
  limitDuration,
  pattern,
  positiveDuration,
  usage,
  wholeNumber,
} from "./arguments.ts";
import { codeOfSignal, EXIT } from "./exit-code.ts";
import {
  flushed,
  hurryAfter,
  type Output,
  type OutputOptions,
  openOutput,
  Relay,
} from "./output.ts";
import { isSignalName, ProcessGroup } from "./process-group.ts";
import { StopSignals } from "./stop-signals.ts";

interface RetryCliOptions extends OutputOptions {
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

/** The end of an attempt. */
interface Outcome {
  /** Exit code of the command; 124 if its time was over. */
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
  /** Which limit has stopped it. */
  readonly over: "timeout" | "deadline" | undefined;
  readonly problem: string | undefined;
  /** Whether a process of it could not be stopped: another attempt would meet it. */
  readonly isLost: boolean;
  /** Length, in milliseconds. */
  readonly ran: number;
  /** The end of its stderr; empty unless `--on-output` asks for it. */
  readonly errors: string;
}

/** How much of stderr `--on-output` looks at, in characters from its end. */
const LOOKED_AT = 1_000_000;
/** Longest input that is kept for every attempt, in bytes. */
const LONGEST_INPUT = 256_000_000;
/** How much of a buffered output waits for a reader, in bytes. */
const MOST_WAITING = 8_000_000;
/** How long an attempt that is over waits for the rest of its stderr, in milliseconds. */
const REST = 200;

/** An attempt that did not end the run. */
class AttemptError extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super(describe(outcome));
    this.outcome = outcome;
  }
}

/** `holdfast retry`. */
export async function retryMain({ own, command }: Cut, clock: Clock): Promise<number> {
  const parser = createParser();
  parser.parse(own, { from: "user" });
  if (parser.args.length > 0) usage(parser, `unexpected ${parser.args[0]}. ${DASHES_HINT}`);
  const options = parser.opts<RetryCliOptions>();
  const launch = launchOf(parser, command, options.shell);
  if (launch === undefined) usage(parser, `there is no command. ${DASHES_HINT}`);
  const input = options.stdin === true ? inputOf(parser) : undefined;
  const output = openOutput(options);
  const run = new RetryRun(launch, options, { clock, output, input });
  return await run.run();
}

interface RetryParts {
  readonly clock: Clock;
  readonly output: Output;
  readonly input: Uint8Array | undefined;
}

/** What stdin has, for every attempt. */
function inputOf(parser: Command): Uint8Array {
  try {
    return readBytes(0, { pipes: true, longest: LONGEST_INPUT });
  } catch (error) {
    return usage(parser, `--stdin: stdin cannot be read: ${(error as Error).message}`);
  }
}

/** One `holdfast retry`: its attempts, and what they need. */
class RetryRun {
  readonly #launch: Launch;
  readonly #options: RetryCliOptions;
  readonly #clock: Clock;
  readonly #output: Output;
  /** What every attempt reads on stdin. */
  readonly #input: Uint8Array | undefined;
  readonly #keepsTerminal: boolean;
  readonly #startedAt: number;
  /** Passes the stderr of the attempts on, with `--on-output`. */
  #relay: Relay | undefined;
  #attempts = 0;
  #last: Outcome | undefined;
  /** Writes the output of the last attempt, with `--buffer`. */
  #flush: () => Promise<void> = async () => undefined;

  constructor(launch: Launch, options: RetryCliOptions, { clock, output, input }: RetryParts) {
    this.#launch = launch;
    this.#options = options;
    this.#clock = clock;
    this.#output = output;
    this.#input = input;
    this.#keepsTerminal = options.stdin !== true && process.stdin.isTTY;
    this.#startedAt = clock.monotonic();
  }

  async run(): Promise<number> {
    const { attempts, deadline, grace } = this.#options;
    hurryAfter(deadline, this.#clock);
    using stops = new StopSignals({
      grace,
      keepsTerminal: this.#keepsTerminal,
      clock: this.#clock,
      output: this.#output,
    });
    const folder = this.#options.buffer === true ? mkdtempSync(join(tmpdir(), "holdfast-")) : "";
    try {
      await retry(() => this.#attempt(stops, folder), {
        retries: attempts - 1,
        backoff: this.#backoff(),
        maxElapsed: deadline,
        shouldRetry: ({ error }) => {
          if (!(error instanceof AttemptError)) return false; // A mistake of ours.
          return stops.stoppedBy === undefined && this.#isRetried(error.outcome);
        },
        onRetry: ({ delay }) => this.#report(`again in ${formatDuration(delay)}`),
        signal: stops.idle,
        clock: this.#clock,
      });
    } catch (error) {
      if (error === stops.idle.reason && stops.stoppedBy !== undefined) {
        this.#output.info(`stopped by ${stops.stoppedBy}`);
        return codeOfSignal(stops.stoppedBy);
      }
      if (!(error instanceof AttemptError)) throw error;
    } finally {
      await this.#flush();
      if (folder !== "") rmSync(folder, { recursive: true, force: true });
    }
    const last = this.#last as Outcome;
    this.#conclude(last, stops.stoppedBy);
    return last.code;
  }

  /** The last lines. */
  #conclude(last: Outcome, stoppedBy: NodeJS.Signals | undefined): void {
    const took = formatDuration(this.#clock.monotonic() - this.#startedAt);
    if (stoppedBy !== undefined) this.#report(`stopped by ${stoppedBy}`);
    else if (!this.#isAgain(last)) this.#output.detail(`${this.#title()}: ${describe(last)}`);
    else if (!this.#isRetried(last) && last.over !== "deadline") this.#report("not retried");
    else {
      this.#report(undefined);
      this.#output.info(`gave up after ${count(this.#attempts)} in ${took}`);
    }
  }

  #title(): string {
    const { attempts } = this.#options;
    return `attempt ${this.#attempts}${Number.isFinite(attempts) ? ` of ${attempts}` : ""}`;
  }

  #report(next: string | undefined): void {
    const last = this.#last as Outcome;
    const line = `${this.#title()}: ${describe(last)} after ${formatDuration(last.ran)}`;
    this.#output.info(next === undefined ? line : `${line}, ${next}`);
  }

  #backoff(): BackoffStrategy | BackoffOptions {
    const { delays, delay, factor, cap, jitter } = this.#options;
    if (delays === undefined) return { duration: delay, factor, cap, jitter, capAfterJitter: true };
    return {
      delayFunc: () => {
        let next = 0;
        return () => delays[Math.min(next++, delays.length - 1)] as number;
      },
    };
  }

  async #attempt(stops: StopSignals, folder: string): Promise<void> {
    this.#attempts++;
    const buffered = folder === "" ? undefined : this.#openBuffers(folder);
    const startedAt = this.#clock.monotonic();
    const group = ProcessGroup.start(this.#launch, {
      stdio: [this.#stdin(), buffered?.out ?? "inherit", buffered?.errors ?? this.#stderr()],
      env: {
        HOLDFAST_ATTEMPT: String(this.#attempts),
        ...(this.#last !== undefined && { HOLDFAST_LAST_EXIT: String(this.#last.code) }),
      },
      keepsTerminal: this.#keepsTerminal,
      clock: this.#clock,
      onProblem: (message) => this.#output.error(message),
    });
    buffered?.close();
    const errors = this.#passInputAndErrors(group);
    const limit = this.#limit(group);
    const outcome = await stops.during(group, async (): Promise<Outcome> => {
      const exit = await group.exited;
      const over = limit.over();
      const mustBeEmpty = exit.code !== 0 || over !== undefined || stops.stoppedBy !== undefined;
      // The rest of a failed attempt must not meet the next one.
      if (mustBeEmpty) await group.stop(this.#options.grace);
      else group.leave();
      limit.stop();
      const isLost = group.problem !== undefined;
      const code = isLost && exit.code === 0 ? EXIT.failed : exit.code;
      return {
        code: over === undefined ? code : EXIT.timeout,
        isLost,
        signal: exit.signal,
        over,
        problem: exit.problem,
        ran: this.#clock.monotonic() - startedAt,
        errors: buffered === undefined ? await errors() : buffered.read(),
      };
    });
    this.#last = outcome;
    if (outcome.over === "deadline" || !this.#isAgain(outcome)) return;
    throw new AttemptError(outcome);
  }

  /** Stops a group when its time, or all time, is over. */
  #limit(group: ProcessGroup) {
    const { timeout, deadline, grace } = this.#options;
    const left = this.#startedAt + deadline - this.#clock.monotonic();
    let over: Outcome["over"];
    const timer = this.#clock.afterFunc(Math.max(0, Math.min(timeout, left)), () => {
      over = timeout <= left ? "timeout" : "deadline";
      void group.stop(grace);
    });
    return { over: () => over, stop: () => timer.stop() };
  }

  #stdin(): "pipe" | "inherit" | "ignore" {
    if (this.#input !== undefined) return "pipe";
    return this.#keepsTerminal ? "inherit" : "ignore";
  }

  #stderr(): "pipe" | "inherit" {
    return this.#options.onOutput === undefined ? "inherit" : "pipe";
  }

  /** Writes stdin, passes stderr on, and returns a function that resolves with its end. */
  #passInputAndErrors({ child }: ProcessGroup): () => Promise<string> {
    child.stdin?.on("error", () => undefined); // A command need not read its stdin.
    child.stdin?.end(this.#input);
    const { stderr } = child;
    if (stderr === null) return async () => "";
    let text = "";
    this.#relay ??= new Relay(process.stderr);
    const relay = this.#relay;
    stderr.setEncoding("utf8");
    stderr.on("data", (chunk: string) => {
      relay.write(chunk, stderr);
      text = (text + chunk).slice(-LOOKED_AT);
    });
    const closed = new Promise<void>((resolve) => stderr.once("close", resolve));
    return async () => {
      // A daemon that left the group may keep the pipe open.
      await Promise.race([closed, this.#clock.sleep(REST)]);
      return text;
    };
  }

  #openBuffers(folder: string) {
    const paths = [join(folder, "stdout"), join(folder, "stderr")] as const;
    const [out, errors] = paths.map((path) => openSync(path, "w", 0o600)) as [number, number];
    this.#flush = async () => {
      await this.#print(paths[0], process.stdout);
      await this.#print(paths[1], process.stderr);
    };
    const read = () => readPart(paths[1], -LOOKED_AT).toString("utf8");
    const close = () => [out, errors].forEach(closeSync);
    return { out, errors, read, close };
  }

  /** Prints a file. No more of it waits for the reader than {@link MOST_WAITING}. */
  async #print(path: string, target: NodeJS.WriteStream): Promise<void> {
    for (const chunk of readChunks(path)) {
      target.write(chunk);
      if (target.writableLength > MOST_WAITING && !(await flushed(this.#clock))) return;
    }
  }

  /** Whether an outcome asks for another attempt, if the limits allow one. */
  #isAgain(outcome: Outcome): boolean {
    return this.#options.untilFails === true ? isSuccess(outcome) : !isSuccess(outcome);
  }

  /** Whether the options let a failure be retried. */
  #isRetried(outcome: Outcome): boolean {
    const { on, notOn, onOutput, untilFails } = this.#options;
    if (outcome.isLost) return false;
    if (untilFails === true) return isSuccess(outcome);
    if (outcome.over === "deadline") return false;
    const names = namesOf(outcome);
    if (on !== undefined) {
      if (!names.some((name) => on.includes(name))) return false;
    } else if (isNotStarted(outcome)) return false;
    if (notOn !== undefined && names.some((name) => notOn.includes(name))) return false;
    return onOutput === undefined || outcome.errors.search(onOutput) >= 0;
  }
}

function isSuccess({ code, over }: Outcome): boolean {
  return code === 0 && over === undefined;
}

function isNotStarted({ code, over }: Outcome): boolean {
  return over === undefined && (code === EXIT.notExecutable || code === EXIT.notFound);
}

function describe({ code, signal, over, problem }: Outcome): string {
  if (over !== undefined) return over === "timeout" ? "timed out" : "deadline exceeded";
  if (problem !== undefined) return problem;
  return signal === undefined ? `exit ${code}` : `killed by ${signal}`;
}

/** The words for an outcome in `--on` and `--not-on`. */
function namesOf({ code, signal, over }: Outcome): readonly string[] {
  if (over !== undefined) return ["timeout"];
  return signal === undefined ? [String(code)] : [signal, String(code)];
}

function count(attempts: number): string {
  return attempts === 1 ? "1 attempt" : `${attempts} attempts`;
}

function attemptsOf(text: string): number {
  return text === "inf" ? Number.POSITIVE_INFINITY : wholeNumber(1)(text);
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
    return String(wholeNumber(0)(word));
  });
}

function zeroOrDuration(text: string): number {
  return text === "0" ? 0 : duration(text);
}

function createParser(): Command {
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
