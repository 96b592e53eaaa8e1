import { createInterface } from "node:readline";
import { type Clock, onAbort } from "@holdfast/clock";
import {
  every,
  isTerminalError,
  isTimeoutError,
  poll,
  TerminalError,
  TimeoutError,
  withTimeout,
} from "@holdfast/wait";
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type Cut,
  commonOptions,
  createCommand,
  DASHES_HINT,
  formatDuration,
  type Launch,
  launchOf,
  limitDuration,
  positiveDuration,
  shellLaunch,
  usage,
  wholeNumber,
} from "./arguments.ts";
import { codeOfSignal, EXIT } from "./exit-code.ts";
import type { StatusRanges } from "./http-check.ts";
import { bodyOf, headerOf, statusOf } from "./http-values.ts";
import { readNamed } from "./named-file.ts";
import { hurry, hurryAfter, type Output, type OutputOptions, openOutput, Relay } from "./output.ts";
import { ProcessGroup } from "./process-group.ts";
import { StopSignals } from "./stop-signals.ts";
import { createTarget, type Target, type TargetOptions } from "./target.ts";

interface WaitCliOptions extends OutputOptions {
  readonly timeout: number;
  readonly interval: number;
  readonly backoff?: boolean;
  readonly attemptTimeout: number;
  readonly delay?: number;
  readonly any?: boolean;
  readonly not?: boolean;
  readonly stable: number;
  readonly always?: boolean;
  readonly server?: string;
  readonly method: string;
  readonly status: StatusRanges;
  readonly follow?: boolean;
  readonly header: Readonly<Record<string, string>>;
  readonly body?: string | RegExp;
  readonly insecure?: boolean;
  /** A file. */
  readonly cacert?: string;
  readonly proxy?: "env";
  readonly grace: number;
  readonly shell?: string;
}

/** How often the open targets are printed again, in milliseconds. */
const REMINDER = 10_000;
/** Growth and longest interval of `--backoff`. */
const BACKOFF = { factor: 1.5, cap: 10_000 };
/** Time limit of the check that no other process has the server's place, in milliseconds. */
const BEFORE_START = 1_000;

/** `holdfast wait`. */
export async function waitMain({ own, command }: Cut, clock: Clock): Promise<number> {
  const parser = createParser();
  parser.parse(own, { from: "user" });
  const options = parser.opts<WaitCliOptions>();
  const output = openOutput(options);
  if (parser.args.length === 0) usage(parser, `there is no target. ${DASHES_HINT}`);
  const launch = launchOf(parser, command, options.shell);
  if (launch === undefined && options.server !== undefined)
    usage(parser, "--server needs a command after --: the server is stopped after it");
  if (launch === undefined && options.always === true)
    usage(parser, "--always needs a command after --");
  const keepsTerminal = process.stdin.isTTY;
  using stops = new StopSignals({ grace: options.grace, keepsTerminal, clock, output });
  const startedAt = clock.monotonic();
  if (launch === undefined) hurryAfter(options.timeout, clock);
  const tools: Tools = { clock, output, stops, keepsTerminal, startedAt, signal: stops.idle };
  const cacert = await certificateOf(parser, options, tools);
  if (typeof cacert === "number") return cacert;
  const targets = parser.args.map((text) => targetOf(parser, text, { ...options, cacert }, tools));
  if (options.server === undefined) return await waitThenRun(targets, launch, options, tools);
  return await withServer(options.server, targets, launch as Launch, { options, tools });
}

interface Tools {
  readonly clock: Clock;
  readonly output: Output;
  readonly stops: StopSignals;
  readonly keepsTerminal: boolean;
  readonly startedAt: number;
  /** Ends the wait: a stop signal, or the end of the server. */
  readonly signal: AbortSignal;
}

async function waitThenRun(
  targets: readonly Target[],
  launch: Launch | undefined,
  options: WaitCliOptions,
  tools: Tools,
): Promise<number> {
  const code = await waitFor(targets, options, tools);
  const { stoppedBy } = tools.stops;
  if (stoppedBy !== undefined) return codeOfSignal(stoppedBy);
  if (launch === undefined) return code;
  if (code !== EXIT.ok && !(code === EXIT.timeout && options.always === true)) return code;
  return await runCommand(launch, tools);
}

async function runCommand(launch: Launch, tools: Tools): Promise<number> {
  const { clock, output, stops, keepsTerminal } = tools;
  const group = ProcessGroup.start(launch, {
    stdio: "inherit",
    keepsTerminal,
    clock,
    onProblem: (message) => output.error(message),
  });
  const { code, problem } = await stops.during(group, async () => {
    const exit = await group.exited;
    if (stops.stoppedBy !== undefined) await group.empty();
    return exit;
  });
  if (problem !== undefined && group.problem === undefined) output.error(problem);
  return code;
}

// ── Waiting ──

/** The reason of a target until its first check begins. */
const NOT_CHECKED = "not checked yet";

/** Waits for the targets. Resolves with an exit code, after its lines. */
async function waitFor(
  targets: readonly Target[],
  options: WaitCliOptions,
  tools: Tools,
): Promise<number> {
  const { timeout, delay = 0, any = false } = options;
  const { clock, output, startedAt, signal } = tools;
  /** The open targets with the last reason of each. */
  const open = new Map<Target, string>(targets.map((target) => [target, NOT_CHECKED]));
  const left = () => Math.max(startedAt + timeout - clock.monotonic(), 0);
  const lines = (more: string) => {
    for (const [{ name }, reason] of open) output.info(`waiting for ${name}: ${reason}${more}`);
  };
  const waitForAll = async (own: AbortSignal): Promise<void> => {
    await clock.sleep(delay, { signal: own });
    const group = new AbortController();
    using _ = onAbort(own, (reason) => group.abort(reason));
    const waits = targets.map((target) =>
      waitForTarget(target, open, options, { ...tools, signal: group.signal }),
    );
    void remind(
      () => lines(Number.isFinite(timeout) ? `, ${formatDuration(left())} left` : ""),
      clock,
      group.signal,
    );
    try {
      await (any ? Promise.any(waits) : Promise.all(waits));
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    } finally {
      group.abort();
      await Promise.allSettled(waits);
    }
  };
  try {
    await withTimeout(waitForAll, left(), { clock, signal });
    return EXIT.ok;
  } catch (error) {
    if (signal.aborted) return EXIT.failed; // The caller knows why.
    if (isTerminalError(error)) {
      output.error((error as Error).message);
      return EXIT.failed;
    }
    if (!isTimeoutError(error)) throw error;
    for (const [{ name }, reason] of open)
      output.error(`${name} not ready after ${formatDuration(timeout)}: ${reason}`);
    hurry();
    return EXIT.timeout;
  }
}

async function remind(print: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of every(REMINDER, { clock, signal, immediate: false })) print();
  } catch {
    // The wait has ended.
  }
}

/** Resolves when the target was ready, or gone with `--not`, as often in a row as asked. */
async function waitForTarget(
  target: Target,
  open: Map<Target, string>,
  options: WaitCliOptions,
  { clock, output, signal }: Tools,
): Promise<void> {
  const { interval, backoff = false, attemptTimeout, not = false, stable } = options;
  const startedAt = clock.monotonic();
  let inRow = 0;
  const check = async (own: AbortSignal): Promise<boolean> => {
    if (open.get(target) === NOT_CHECKED) open.set(target, "no answer yet");
    const reason = await reasonNow(target, attemptTimeout, clock, own);
    const isUp = reason === undefined;
    inRow = isUp !== not ? inRow + 1 : 0;
    if (inRow >= stable) return true;
    const isGood = inRow > 0 ? `${inRow} of ${stable} checks in a row` : undefined;
    const now = isGood ?? reason ?? "still there";
    if (open.get(target) !== now) output.info(`waiting for ${target.name}: ${now}`);
    else output.detail(`${target.name}: ${now}`);
    open.set(target, now);
    return false;
  };
  await poll(({ signal: own }) => check(own), {
    backoff: backoff ? { duration: interval, ...BACKOFF } : { duration: interval },
    clock,
    signal,
  });
  open.delete(target);
  const took = formatDuration(clock.monotonic() - startedAt);
  output.info(`${target.name} is ${not ? "gone" : "ready"} after ${took}`);
}

/** Why the target is not ready now; undefined if it is. */
async function reasonNow(
  target: Target,
  attemptTimeout: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await withTimeout((own) => target.check(own), attemptTimeout, { clock, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isTerminalError(error))
      throw new TerminalError(`${target.name}: ${(error as Error).message}`, { cause: error });
    if (error instanceof TimeoutError) return `no answer within ${formatDuration(attemptTimeout)}`;
    return (error as Error).message;
  }
}

// ── --server ──

/** Starts a server, waits, runs the command, and stops the server with all of its processes. */
async function withServer(
  line: string,
  targets: readonly Target[],
  launch: Launch,
  { options, tools }: { readonly options: WaitCliOptions; readonly tools: Tools },
): Promise<number> {
  const { clock, output, stops } = tools;
  const occupied = await firstReady(targets, options.timeout, tools);
  if (stops.stoppedBy !== undefined) return codeOfSignal(stops.stoppedBy);
  if (occupied !== undefined) {
    output.error(`${occupied.name} answers before the server starts: stop the other process`);
    return EXIT.failed;
  }
  const server = ProcessGroup.start(shellLaunch(line), {
    stdio: ["ignore", "pipe", "pipe"],
    keepsTerminal: false,
    clock,
    onProblem: (message) => output.error(message),
  });
  const lastLine = passOn(server);
  const ended = new AbortController();
  using _ = onAbort(stops.idle, (reason) => ended.abort(reason));
  let isOver = false;
  const exited = server.exited.then(({ code, signal, problem }) => {
    if (isOver) return;
    const how = problem ?? (signal === undefined ? `exit ${code}` : `killed by ${signal}`);
    output.error(`the server has ended: ${how}${lastLine() === "" ? "" : `: ${lastLine()}`}`);
    ended.abort();
  });
  try {
    return await waitThenRun(targets, launch, options, { ...tools, signal: ended.signal });
  } finally {
    isOver = true;
    await stops.during(server, () => server.stop(options.grace));
    await exited;
  }
}

/** A target whose place another process has. */
async function firstReady(
  targets: readonly Target[],
  timeout: number,
  { clock, stops }: Tools,
): Promise<Target | undefined> {
  const servers = targets.filter(({ isServer }) => isServer);
  const limit = Math.min(BEFORE_START, timeout);
  const reasons = await Promise.all(
    servers.map((target) => reasonNow(target, limit, clock, stops.idle).catch(String)),
  );
  return servers.find((_, index) => reasons[index] === undefined);
}

/** Writes what a server prints to stderr: stdout belongs to the command. */
function passOn({ child }: ProcessGroup): () => string {
  let last = "";
  const relay = new Relay(process.stderr);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") last = line;
      relay.write(`${line}\n`, stream);
    });
  }
  return () => last;
}

// ── Options ──

function targetOf(
  parser: Command,
  text: string,
  options: Omit<WaitCliOptions, "cacert"> & { readonly cacert: Buffer | undefined },
  { clock, output }: Tools,
): Target {
  const { not = false, method, status, follow = false, header: headers } = options;
  const { body, insecure = false, cacert, proxy } = options;
  const settings: TargetOptions = {
    clock,
    not,
    method,
    status,
    follow,
    headers,
    body,
    insecure,
    cacert,
    proxy: proxy === "env",
    onProblem: (message) => output.error(message),
  };
  try {
    return createTarget(text, settings);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return usage(parser, `${error.message} ${DASHES_HINT}`);
  }
}

/** The file of `--cacert`, or the exit code if the wait is over before it is read. */
async function certificateOf(
  parser: Command,
  { cacert, timeout }: WaitCliOptions,
  { clock, output, stops }: Tools,
): Promise<Buffer | number | undefined> {
  if (cacert === undefined) return undefined;
  try {
    return await readNamed(cacert, { clock, timeout, signal: stops.idle });
  } catch (error) {
    if (stops.stoppedBy !== undefined) return codeOfSignal(stops.stoppedBy);
    if (!isTimeoutError(error))
      return usage(parser, `--cacert ${cacert} cannot be read: ${(error as Error).message}`);
    output.error(`--cacert ${cacert} not read after ${formatDuration(timeout)}`);
    hurry();
    return EXIT.timeout;
  }
}

function createParser(): Command {
  const parser = createCommand("holdfast wait")
    .usage("[options] TARGET... [-- COMMAND...]")
    .description("Waits until all targets are ready, then runs COMMAND.")
    .argument("[target...]")
    .addOption(
      new Option("--timeout <duration>", "time limit of the whole wait; 0 for none")
        .argParser(limitDuration)
        .default(60_000, "60s"),
    )
    .addOption(
      new Option("--interval <duration>", "delay between the checks of a target")
        .argParser(positiveDuration)
        .default(500, "500ms"),
    )
    .option("--backoff", "let the interval grow by half with each check, up to 10s")
    .addOption(
      new Option("--attempt-timeout <duration>", "time limit of one check")
        .argParser(positiveDuration)
        .default(2_000, "2s"),
    )
    .option("--delay <duration>", "time before the first check", positiveDuration)
    .option("--any", "wait for one of the targets only")
    .option("--not", "wait until the targets are gone")
    .addOption(
      new Option("--stable <number>", "checks in a row that must succeed")
        .argParser(wholeNumber(1))
        .default(1),
    )
    .option("--always", "run COMMAND also after a timeout")
    .option("--server <line>", "start a server first with /bin/sh, stop it after COMMAND")
    .optionsGroup("http:")
    .option("--method <method>", "method of the request", "GET")
    .addOption(
      new Option("--status <list>", "statuses that are ready, such as 200,301 or 200-399")
        .argParser(statusOf)
        .default([[200, 399]], "200-399"),
    )
    .option("--follow", "follow up to 10 redirects")
    .addOption(
      new Option("--header <header>", '"Name: value"; may be repeated')
        .argParser(headerOf)
        .default({}, "none"),
    )
    .option("--body <text>", "TEXT or /REGEX/ in the first 64 KB of the body", bodyOf)
    .option("-k, --insecure", "accept any certificate")
    .option("--cacert <file>", "trust the certificates in FILE (PEM)")
    .addOption(
      new Option("--proxy <source>", "env: use HTTP_PROXY, HTTPS_PROXY and NO_PROXY").choices([
        "env",
      ]),
    )
    .optionsGroup("Common:");
  return commonOptions(parser)
    .helpOption("--help", "show this help")
    .addHelpText(
      "after",
      `
Targets:
  tcp:PORT, tcp:HOST:PORT   accepts connections, and keeps them open
  http://… https://…        answers with one of the statuses
  unix:PATH                 accepts connections
  file:PATH                 is there, and has the same size and time in two checks
  dns:NAME                  resolves
  exec:LINE                 /bin/sh -c LINE exits with 0

Exit code: that of COMMAND; 0 without one; 124 time over, 125 holdfast failed, 126 COMMAND not executable,
127 COMMAND not found, 128 + N signal N.
`,
    );
}
