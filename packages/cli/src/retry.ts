import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@holdfast/clock";
import { readChunks, readPart } from "@holdfast/kit/node";
import { type BackoffOptions, type BackoffStrategy, isTimeoutError, retry } from "@holdfast/wait";
import type { Command } from "commander";
import {
  type Cut,
  DASHES_HINT,
  formatDuration,
  type Launch,
  launchOf,
  usage,
} from "./arguments.ts";
import { codeOfSignal, EXIT } from "./exit-code.ts";
import { readNamed } from "./named-file.ts";
import { flushed, hurryAfter, type Output, openOutput, Relay } from "./output.ts";
import { ProcessGroup } from "./process-group.ts";
import { type RetryCliOptions, retryParser } from "./retry-options.ts";
import { StopSignals } from "./stop-signals.ts";

/** The end of an attempt. */
interface AttemptEnd {
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
  readonly outcome: AttemptEnd;
  constructor(outcome: AttemptEnd) {
    super(describe(outcome));
    this.outcome = outcome;
  }
}

/** `holdfast retry`. */
export async function retryMain({ own, command }: Cut, clock: Clock): Promise<number> {
  const parser = retryParser();
  parser.parse(own, { from: "user" });
  if (parser.args.length > 0) usage(parser, `unexpected ${parser.args[0]}. ${DASHES_HINT}`);
  const options = parser.opts<RetryCliOptions>();
  const launch = launchOf(parser, command, options.shell);
  if (launch === undefined) usage(parser, `there is no command. ${DASHES_HINT}`);
  const { deadline, grace } = options;
  const output = openOutput(options);
  const keepsTerminal = options.stdin !== true && process.stdin.isTTY;
  using stops = new StopSignals({ grace, keepsTerminal, clock, output });
  hurryAfter(deadline, clock);
  const startedAt = clock.monotonic();
  const parts: RetryParts = { clock, output, stops, keepsTerminal, startedAt };
  if (options.stdin !== true) return await new RetryRun(launch, options, parts).run();
  const input = await inputOf(parser, deadline, parts);
  if (typeof input === "number") return input;
  return await new RetryRun(launch, options, { ...parts, input }).run();
}

interface RetryParts {
  readonly clock: Clock;
  readonly output: Output;
  readonly stops: StopSignals;
  readonly keepsTerminal: boolean;
  readonly startedAt: number;
  /** What every attempt reads on stdin. */
  readonly input?: Uint8Array;
}

/** What stdin has, for every attempt; or the exit code if the time is over before its end. */
async function inputOf(
  parser: Command,
  deadline: number,
  { clock, output, stops }: RetryParts,
): Promise<Uint8Array | number> {
  try {
    const signal = stops.idle;
    return await readNamed("-", { clock, timeout: deadline, signal, longest: LONGEST_INPUT });
  } catch (error) {
    if (stops.stoppedBy !== undefined) return codeOfSignal(stops.stoppedBy);
    if (!isTimeoutError(error))
      return usage(parser, `--stdin: stdin cannot be read: ${(error as Error).message}`);
    output.error(`--stdin: no end of stdin after ${formatDuration(deadline)}`);
    return EXIT.timeout;
  }
}

/** One `holdfast retry`: its attempts, and what they need. */
class RetryRun {
  readonly #launch: Launch;
  readonly #options: RetryCliOptions;
  readonly #parts: RetryParts;
  /** Passes the stderr of the attempts on, with `--on-output`. */
  #relay: Relay | undefined;
  #attempts = 0;
  #last: AttemptEnd | undefined;
  /** Writes the output of the last attempt, with `--buffer`. */
  #flush: () => Promise<void> = async () => undefined;

  constructor(launch: Launch, options: RetryCliOptions, parts: RetryParts) {
    this.#launch = launch;
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<number> {
    const { attempts, deadline } = this.#options;
    const { stops, clock, output, startedAt } = this.#parts;
    const folder = this.#options.buffer === true ? mkdtempSync(join(tmpdir(), "holdfast-")) : "";
    try {
      await retry(() => this.#attempt(folder), {
        retries: attempts - 1,
        backoff: this.#backoff(),
        maxElapsed: Math.max(0, startedAt + deadline - clock.monotonic()),
        shouldRetry: ({ error }) => {
          if (!(error instanceof AttemptError)) return false; // A mistake of ours.
          return stops.stoppedBy === undefined && this.#isRetried(error.outcome);
        },
        onRetry: ({ delay }) => this.#report(`again in ${formatDuration(delay)}`),
        signal: stops.idle,
        clock,
      });
    } catch (error) {
      if (error === stops.idle.reason && stops.stoppedBy !== undefined) {
        output.info(`stopped by ${stops.stoppedBy}`);
        return codeOfSignal(stops.stoppedBy);
      }
      if (!(error instanceof AttemptError)) throw error;
    } finally {
      await this.#flush();
      if (folder !== "") rmSync(folder, { recursive: true, force: true });
    }
    const last = this.#last as AttemptEnd;
    this.#conclude(last, stops.stoppedBy);
    return last.code;
  }

  /** The last lines. */
  #conclude(last: AttemptEnd, stoppedBy: NodeJS.Signals | undefined): void {
    const took = formatDuration(this.#parts.clock.monotonic() - this.#parts.startedAt);
    if (stoppedBy !== undefined) this.#report(`stopped by ${stoppedBy}`);
    else if (!this.#isAgain(last)) this.#parts.output.detail(`${this.#title()}: ${describe(last)}`);
    else if (!this.#isRetried(last) && last.over !== "deadline") this.#report("not retried");
    else {
      this.#report(undefined);
      this.#parts.output.info(`gave up after ${count(this.#attempts)} in ${took}`);
    }
  }

  #title(): string {
    const { attempts } = this.#options;
    return `attempt ${this.#attempts}${Number.isFinite(attempts) ? ` of ${attempts}` : ""}`;
  }

  #report(next: string | undefined): void {
    const last = this.#last as AttemptEnd;
    const line = `${this.#title()}: ${describe(last)} after ${formatDuration(last.ran)}`;
    this.#parts.output.info(next === undefined ? line : `${line}, ${next}`);
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

  async #attempt(folder: string): Promise<void> {
    const { stops, clock, output, keepsTerminal } = this.#parts;
    this.#attempts++;
    const buffered = folder === "" ? undefined : this.#openBuffers(folder);
    const startedAt = this.#parts.clock.monotonic();
    const group = ProcessGroup.start(this.#launch, {
      stdio: [this.#stdin(), buffered?.out ?? "inherit", buffered?.errors ?? this.#stderr()],
      env: {
        HOLDFAST_ATTEMPT: String(this.#attempts),
        ...(this.#last !== undefined && { HOLDFAST_LAST_EXIT: String(this.#last.code) }),
      },
      keepsTerminal,
      clock,
      onProblem: (message) => output.error(message),
    });
    buffered?.close();
    const errors = this.#passInputAndErrors(group);
    const limit = this.#limit(group);
    const outcome = await stops.during(group, async (): Promise<AttemptEnd> => {
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
        ran: this.#parts.clock.monotonic() - startedAt,
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
    const left = this.#parts.startedAt + deadline - this.#parts.clock.monotonic();
    let over: AttemptEnd["over"];
    const timer = this.#parts.clock.afterFunc(Math.max(0, Math.min(timeout, left)), () => {
      over = timeout <= left ? "timeout" : "deadline";
      void group.stop(grace);
    });
    return { over: () => over, stop: () => timer.stop() };
  }

  #stdin(): "pipe" | "inherit" | "ignore" {
    if (this.#parts.input !== undefined) return "pipe";
    return this.#parts.keepsTerminal ? "inherit" : "ignore";
  }

  #stderr(): "pipe" | "inherit" {
    return this.#options.onOutput === undefined ? "inherit" : "pipe";
  }

  /** Writes stdin, passes stderr on, and returns a function that resolves with its end. */
  #passInputAndErrors({ child }: ProcessGroup): () => Promise<string> {
    child.stdin?.on("error", () => undefined); // A command need not read its stdin.
    child.stdin?.end(this.#parts.input);
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
      await Promise.race([closed, this.#parts.clock.sleep(REST)]);
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
      if (target.writableLength > MOST_WAITING && !(await flushed(this.#parts.clock))) return;
    }
  }

  /** Whether an outcome asks for another attempt, if the limits allow one. */
  #isAgain(outcome: AttemptEnd): boolean {
    return this.#options.untilFails === true ? isSuccess(outcome) : !isSuccess(outcome);
  }

  /** Whether the options let a failure be retried. */
  #isRetried(outcome: AttemptEnd): boolean {
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

function isSuccess({ code, over }: AttemptEnd): boolean {
  return code === 0 && over === undefined;
}

function isNotStarted({ code, over }: AttemptEnd): boolean {
  return over === undefined && (code === EXIT.notExecutable || code === EXIT.notFound);
}

function describe({ code, signal, over, problem }: AttemptEnd): string {
  if (over !== undefined) return over === "timeout" ? "timed out" : "deadline exceeded";
  if (problem !== undefined) return problem;
  return signal === undefined ? `exit ${code}` : `killed by ${signal}`;
}

/** The words for an outcome in `--on` and `--not-on`. */
function namesOf({ code, signal, over }: AttemptEnd): readonly string[] {
  if (over !== undefined) return ["timeout"];
  return signal === undefined ? [String(code)] : [signal, String(code)];
}

function count(attempts: number): string {
  return attempts === 1 ? "1 attempt" : `${attempts} attempts`;
}
