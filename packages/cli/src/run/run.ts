import type { Clock } from "@holdfast/clock";
import type { LiveServer } from "@holdfast/kit/node";
import type { Cut } from "../arguments.ts";
import { codeOfSignal, EXIT } from "../exit-code.ts";
import { isSilent } from "../named-file.ts";
import { hurry, hurryAfter, type Output, openOutput, Relay } from "../output.ts";
import { nameOf } from "../proc.ts";
import { describeProcess } from "../process-group.ts";
import { COMMANDS } from "./commands.ts";
import type { SupervisorEvent } from "./core/event.ts";
import type { Statuses } from "./core/status.ts";
import { Supervisor } from "./core/supervisor.ts";
import { freePort, isTaken } from "./machine/ports.ts";
import { createProbe } from "./machine/probe.ts";
import { ProcessOutput } from "./machine/process-output.ts";
import { RealProcessTable } from "./machine/real-process-table.ts";
import { Roster } from "./machine/roster.ts";
import { LockedError, pageOf, RunLock } from "./machine/run-lock.ts";
import { problemOf } from "./manifest/problem-of.ts";
import { isReadOnce, type ReadManifest, readManifest } from "./manifest/read-manifest.ts";
import { fixedManifest, manifestSource } from "./manifest-source.ts";
import { parseRunOptions, type RunOptions } from "./options.ts";
import { onRunSignals } from "./signals.ts";
import { Board } from "./view/board.ts";
import { LiveView } from "./view/live-view.ts";
import { LogView } from "./view/log-view.ts";
import { createPalette } from "./view/palette.ts";
import type { View } from "./view/view.ts";
import { serve } from "./web/serve.ts";

/** `holdfast run FILE`, and the commands beside it. */
export async function runMain(cut: Cut, clock: Clock): Promise<number> {
  const [word = "", ...rest] = cut.own;
  const command = COMMANDS.get(word);
  if (command !== undefined) return await command({ own: rest, command: cut.command }, clock);
  const options = parseRunOptions(cut);
  const output = openOutput(options);
  const isOnce = await isReadOnce(options.file);
  const first = await readManifest(options.file, { clock, pipes: true });
  const problem = problemOf(first, options.file);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    output.error("nothing was started");
    return EXIT.usage;
  }
  const obstacle = await obstacleOf(first, options, clock);
  if (obstacle !== undefined) {
    output.error(`${obstacle}: nothing was started`);
    return EXIT.usage;
  }
  const manifests = isOnce ? fixedManifest(first) : manifestSource(options.file);
  let lock: RunLock | undefined;
  try {
    lock = new RunLock(isOnce ? "-" : options.file);
  } catch (error) {
    output.error((error as Error).message);
    if (error instanceof LockedError) return EXIT.failed;
    output.error("without a lock: another supervisor of this manifest will not be noticed");
  }
  using _ = lock;
  return await new Run(options, { clock, output, lock }).run(manifests);
}

/** A name that is not one of a process of the manifest, or logs on a file system that does not answer. */
async function obstacleOf(
  read: ReadManifest,
  { names, file, logs }: RunOptions,
  clock: Clock,
): Promise<string | undefined> {
  const unknown = read.ok ? names.find((name) => !read.manifest.processes.has(name)) : undefined;
  if (unknown !== undefined) return `${unknown} is no process of ${file}, or is disabled`;
  if (logs === undefined || !(await isSilent(logs, clock))) return undefined;
  return `the file system of --logs ${logs} does not answer`;
}

interface Tools {
  readonly clock: Clock;
  readonly output: Output;
  readonly lock: RunLock | undefined;
}

/** Why a run ends, and its exit code. */
interface End {
  readonly why: string;
  readonly code: number;
}

function timeUp(board: Board): End {
  const hasFailed = board.snapshot().processes.some(({ phase }) => phase === "Failed");
  return { why: "time is up", code: hasFailed ? 1 : EXIT.ok };
}

const CLOSED: End = { why: "the output was closed", code: codeOfSignal("SIGPIPE") };
/** A terminal that has closed fails before its SIGHUP comes, or without one. */
const GONE: End = { why: "SIGHUP", code: codeOfSignal("SIGHUP") };

/** One `holdfast run`, from its start to its exit code. */
class Run {
  readonly #options: RunOptions;
  readonly #tools: Tools;
  readonly #end = new AbortController();
  #ending: End | undefined;

  constructor(options: RunOptions, tools: Tools) {
    this.#options = options;
    this.#tools = tools;
  }

  async run(manifests: ReturnType<typeof manifestSource>): Promise<number> {
    const { clock, output, lock } = this.#tools;
    const {
      file,
      names,
      grace,
      for: duration = Number.POSITIVE_INFINITY,
      keepRunning,
    } = this.#options;
    hurryAfter(duration, clock);
    const onProblem = (message: string): void => output.error(message);
    const processOutput = this.#openProcessOutput(onProblem);
    const roster = this.#openRoster();
    const table = new RealProcessTable({ clock, output: processOutput, roster, onProblem });
    using _signals = onRunSignals({
      clock,
      hasTerminal: process.stdin.isTTY,
      onStop: (signal) => this.#cut({ why: signal, code: codeOfSignal(signal) }),
      onKill: (signal) => {
        output.info(`${signal}: killing all processes`);
        table.killAll();
      },
      onReload: manifests.reload,
    });
    using _time = clock.afterFunc(duration, () => this.#cut(timeUp(board)), {
      label: "end of the run",
    });
    const linesOf = (name: string): readonly string[] => processOutput.linesOf(name);
    const board = new Board({ clock, file, linesOf });
    const view = this.#openView();
    const report = (event: SupervisorEvent, statuses: Statuses): void => {
      view.show(event, statuses);
      board.show(event, statuses);
      if (event.type === "finished" && keepRunning !== true) this.#stop(event);
    };
    const supervisor = new Supervisor({
      file,
      names,
      grace,
      manifests: manifests.source,
      machine: {
        ...{ clock, table, probe: createProbe(clock, onProblem), freePort, isTaken },
        isSilent: (path, signal) => isSilent(path, clock, signal),
      },
      report,
    });
    board.follow(supervisor);
    try {
      await using page = await this.#openPage(supervisor, board, processOutput);
      lock?.publish(page?.url);
      if (page) this.#tellPage(page.url, view, board);
      await this.#endLeftovers(roster);
      await supervisor.run(this.#end.signal);
    } catch (error) {
      return this.#refuse(error);
    } finally {
      view.close();
    }
    return this.#ending?.code ?? EXIT.ok;
  }

  #refuse(error: unknown): number {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    this.#tools.output.error(`port ${this.#options.port} is taken: choose another with --port`);
    return EXIT.usage;
  }

  /** The address with the token is for the eyes at a terminal: not for a file of logs, and not for the page itself. */
  #tellPage(url: string, view: View, board: Board): void {
    const { clock, lock } = this.#tools;
    const event = { type: "serving", url, at: clock.monotonic() } as const;
    const isSecret = process.stderr.isTTY && lock !== undefined;
    view.show(isSecret ? { ...event, url: pageOf(lock, url) } : event, new Map());
    board.show(event, new Map());
  }

  #openRoster(): Roster | undefined {
    const { lock } = this.#tools;
    return lock && process.platform === "linux"
      ? new Roster(`${lock.folder}/processes`)
      : undefined;
  }

  /** Only the first reason has an effect. */
  #stop(end: End): void {
    this.#ending ??= end;
    this.#end.abort(end.why);
  }

  /** A wish from outside: no reader holds it up. */
  #cut(end: End): void {
    hurry();
    this.#stop(end);
  }

  /** Whether a table takes the place of lines and of the output of the processes: on a terminal that can show it. */
  get #hasTable(): boolean {
    const { raw, quiet, verbose } = this.#options;
    const { TERM, CI } = process.env;
    const isTerminal = process.stdout.isTTY && process.stderr.isTTY && TERM !== "dumb" && !CI;
    return isTerminal && ![raw, quiet, verbose].includes(true);
  }

  #openView(): View {
    const { file, for: duration = Number.POSITIVE_INFINITY } = this.#options;
    if (!this.#hasTable) return new LogView(this.#tools.output);
    const { clock } = this.#tools;
    const palette = createPalette(!process.env["NO_COLOR"]);
    const start = clock.monotonic();
    return new LiveView({ clock, stream: process.stderr, palette, file, start, duration });
  }

  /** stdout belongs to the processes. */
  #openProcessOutput(onProblem: (message: string) => void): ProcessOutput {
    const { logs: directory, raw = false, output } = this.#options;
    const { stdout } = process;
    if (!this.#hasTable)
      stdout.on("error", ({ code }: NodeJS.ErrnoException) =>
        this.#stop(code === "EIO" ? GONE : CLOSED),
      );
    const relay = output && !this.#hasTable ? new Relay(stdout) : undefined;
    return new ProcessOutput({ directory, relay, raw, onProblem });
  }

  async #openPage(
    supervisor: Supervisor,
    board: Board,
    processOutput: ProcessOutput,
  ): Promise<LiveServer | undefined> {
    const { page, port } = this.#options;
    if (!page) return undefined;
    const { clock, lock } = this.#tools;
    return await serve({
      clock,
      port,
      status: board,
      alive: [board.alive],
      ready: [board.ready],
      token: lock?.token,
      restart: (name) => supervisor.restart(name),
      stop: (name) => supervisor.stop(name),
      linesOf: (name) =>
        supervisor.manifest.processes.has(name) ? processOutput.linesOf(name) : undefined,
    });
  }

  /** Stops what an earlier supervisor of this manifest has left. */
  async #endLeftovers(roster: Roster | undefined): Promise<void> {
    const { clock, output } = this.#tools;
    const { grace = LEFTOVER_GRACE } = this.#options;
    const { signal } = this.#end;
    const onFound = (pid: number): void => {
      const left = `stopping process ${pid}, which an earlier holdfast run has left`;
      output.info(`${left}: ${nameOf(pid)}`);
    };
    const onLost = (pid: number): void => output.error(`cannot stop ${describeProcess(pid)}`);
    const options = { clock, grace, signal, onFound, onLost };
    await roster?.endLeftovers(options).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/** Grace of leftovers, whose manifest may have changed, in milliseconds. */
const LEFTOVER_GRACE = 10_000;
