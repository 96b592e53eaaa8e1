import { ChildProcess, type SpawnOptions, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  constants as fsConstants,
  fstatSync,
  openSync,
  statSync,
} from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import type { Clock } from "@holdfast/clock";
import { readPart } from "@holdfast/kit/node";
import { poll, withTimeout } from "@holdfast/wait";
import type { Launch } from "./arguments.ts";
import { codeOfSignal, EXIT } from "./exit-code.ts";
import { nameOf, processesWith, residentBytes, runningProcesses } from "./proc.ts";
import { effectOf } from "./signals.ts";

/** The end of the first process of a group. */
export interface Exit {
  /** Its exit code; 128 + N for signal N, 126 and 127 if it did not start. */
  readonly code: number;
  readonly signal?: NodeJS.Signals | undefined;
  /** Why it did not start. */
  readonly problem?: string | undefined;
}

/** Options for {@link ProcessGroup.start}. */
export interface GroupOptions {
  readonly stdio: StdioOptions;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Working directory; that of this process by default. */
  readonly cwd?: string | undefined;
  /**
   * Whether the command stays in the group of this process: it keeps the terminal, and a Ctrl-C of the
   * terminal reaches it directly.
   */
  readonly keepsTerminal: boolean;
  readonly clock: Clock;
  /** Receives a process that may not be signalled. */
  readonly onProblem: (message: string) => void;
}

/** Pace at which a group is asked whether it is empty, in milliseconds. */
const PACE = 20;
/** How long processes may take to end after SIGKILL, in milliseconds. Longer hangs in the kernel. */
const KILL_TIMEOUT = 10_000;
/** Marks the descendants of a group that keeps the terminal, also those whose parent has ended. */
const MARK = "HOLDFAST_GROUP";

/** Groups that are not empty, to be killed if this process ends before them. */
const running = new Set<ProcessGroup>();
/** Whether a process could not be stopped: no success, whatever else has succeeded. */
let hasLost = false;
process.once("exit", () => {
  for (const group of running) group.kill();
  if (hasLost && process.exitCode === EXIT.ok) process.exitCode = EXIT.failed;
});

/**
 * A command and its descendants, stopped as one. It has ended only when all of them have.
 *
 * The group is a process group of its own, or, if the command keeps the terminal, the command and its
 * descendants. A process that starts a session of its own (`setsid`, a daemon) leaves a process group.
 */
export class ProcessGroup {
  /** Resolves when the first process has ended. Its descendants may still run. */
  readonly exited: Promise<Exit>;
  readonly child: ChildProcess;
  /** Why processes of the group could not be stopped. They do not count any more: nothing waits for them. */
  problem: string | undefined;
  readonly #options: GroupOptions;
  readonly #mark: string;
  /** Processes that got SIGTERM, which each gets once. */
  readonly #told = new Set<number>();
  #settle!: (exit: Exit) => void;
  #hasExited = false;
  #isStopping = false;

  private constructor({ file, args }: Launch, options: GroupOptions) {
    this.#options = options;
    this.#mark = randomUUID();
    const { stdio, keepsTerminal, cwd } = options;
    const env = { ...process.env, ...options.env, [MARK]: this.#mark };
    const settings = { stdio, env, cwd, detached: !keepsTerminal };
    this.child = startOrFail(file, args, settings);
    running.add(this);
    this.exited = new Promise((settle) => {
      this.#settle = settle;
      this.child.once("error", (error) => settle(problemOf(file, error, cwd)));
      this.child.once("exit", (code, signal) => {
        this.#hasExited = true;
        if (this.#members().length === 0) running.delete(this);
        settle(signal === null ? { code: code ?? 1 } : { code: codeOfSignal(signal), signal });
      });
    });
    if (this.child.pid === undefined) running.delete(this);
  }

  /** Starts a command. A command that cannot start is an {@link Exit} with a `problem`. */
  static start(launch: Launch, options: GroupOptions): ProcessGroup {
    return new ProcessGroup(launch, options);
  }

  /**
   * Sends a signal to the first process, or to all of the group if it is a process group. A group that is being stopped
   * is not told to stop again.
   */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined || (this.#isStopping && effectOf(signal) === "stop")) return;
    if (!this.#options.keepsTerminal) this.#sendToAll(signal);
    else if (!this.#hasExited) sendSignal(pid, signal);
    if (signal === "SIGTERM") this.#told.add(pid);
  }

  /** Sends SIGKILL to every process of the group. */
  kill(): void {
    const members = this.#members();
    const refused = members.filter((pid) => !sendSignal(pid, "SIGKILL"));
    const isRefused = members.length > 0 && refused.length === members.length;
    if (isRefused && process.platform === "linux") this.#abandon(); // Elsewhere only zombies are left.
  }

  /** Leaves the processes of the group alone that outlive the first one. */
  leave(): void {
    running.delete(this);
  }

  /** Resolves when no process of the group is left. Zombies do not count. */
  async empty(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await withTimeout(() => this.exited, Number.POSITIVE_INFINITY, { clock, signal });
    await poll(() => this.#members().length === 0, { interval: PACE, clock, signal });
    running.delete(this);
  }

  /**
   * Sends SIGTERM to the group, SIGKILL after `grace`, and resolves when it is empty, or when processes
   * stay although they were killed.
   *
   * @param grace - in milliseconds, at least 0
   */
  async stop(grace: number): Promise<void> {
    if (this.#members().length === 0) return await this.empty();
    this.#isStopping = true;
    this.#sendToAll("SIGTERM");
    this.#sendToAll("SIGCONT"); // A stopped process could not react.
    await this.killAfter(grace);
  }

  /** Sends SIGKILL if the group is not empty after `grace`. Resolves as {@link stop} does. */
  async killAfter(grace: number): Promise<void> {
    const { clock } = this.#options;
    const timer = clock.afterFunc(grace, () => this.kill());
    const limit = clock.timeout(grace + KILL_TIMEOUT);
    try {
      await this.empty(limit);
    } catch {
      this.#abandon();
    } finally {
      timer.stop();
      limit[Symbol.dispose]();
    }
  }

  /** Waits no longer for processes that cannot be stopped. */
  #abandon(): void {
    if (this.problem !== undefined) return;
    hasLost = true;
    this.problem = `cannot stop ${this.#members().map(describeProcess).join(", ")}`;
    this.#options.onProblem(this.problem);
    running.delete(this);
    this.#settle({ code: EXIT.failed, problem: this.problem });
  }

  /** Sends a signal to every process of the group, SIGTERM to those that did not get it. */
  #sendToAll(signal: NodeJS.Signals): void {
    const members = this.#members();
    const isFirst = signal !== "SIGTERM" || !members.some((pid) => this.#told.has(pid));
    if (isFirst && !this.#options.keepsTerminal) sendSignal(-(this.child.pid as number), signal);
    else
      for (const pid of members)
        if (signal !== "SIGTERM" || !this.#told.has(pid)) sendSignal(pid, signal);
    if (signal === "SIGTERM") for (const pid of members) this.#told.add(pid);
  }

  /** Memory of the group, in bytes; 0 without /proc. */
  memory(): number {
    if (process.platform !== "linux") return 0;
    return this.#members().reduce((sum, pid) => sum + residentBytes(pid), 0);
  }

  /** The processes of the group, without zombies. */
  #members(): readonly number[] {
    const { pid } = this.child;
    if (pid === undefined || this.problem !== undefined) return [];
    if (process.platform !== "linux") return membersByKill(pid, this.#options, this.#hasExited);
    const all = runningProcesses();
    if (!this.#options.keepsTerminal)
      return all.filter(({ group }) => group === pid).map((one) => one.pid);
    const found = new Set(processesWith(MARK, [this.#mark]));
    found.delete(process.pid);
    if (!this.#hasExited) found.add(pid);
    // A descendant may have another environment: its parents tell.
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const one of all) if (found.has(one.parent)) found.add(one.pid);
    }
    return [...found];
  }
}

/** Starts a process. Of the errors of `spawn`, some are events and some are thrown: here all are events. */
function startOrFail(
  file: string,
  args: readonly string[],
  settings: SpawnOptions & { readonly cwd: string | undefined },
): ChildProcess {
  const { stdio = "pipe" } = settings;
  const given = typeof stdio === "string" ? [stdio, stdio, stdio] : stdio;
  const opened: number[] = [];
  try {
    const own = given.map((one, fd) => (one === "inherit" && fd > 0 ? openAgain(fd, opened) : one));
    return spawn(file, args, { ...settings, stdio: own });
  } catch (error) {
    const failed = new ChildProcess();
    process.nextTick(() => failed.emit("error", error));
    return failed;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/**
 * A pipe or a terminal of this process, opened a second time. Shared as it is, it would block the writes of this process
 * as it does those of the command, and a reader that has stopped reading would keep it from hearing signals. Linux only.
 *
 * @param opened - receives what the caller closes
 */
function openAgain(fd: number, opened: number[]): number | "inherit" {
  const { O_WRONLY, O_NONBLOCK, O_RDWR, O_NOCTTY } = fsConstants;
  try {
    const isPipe = fstatSync(fd).isFIFO();
    if (!isPipe && !isatty(fd)) return "inherit";
    // A pipe does not wait for a reader. Some programs read from a terminal on stderr.
    const flags = isPipe ? O_WRONLY | O_NONBLOCK : O_RDWR | O_NOCTTY;
    const again = openSync(`/proc/self/fd/${fd}`, flags);
    opened.push(again);
    return again;
  } catch {
    return "inherit"; // It has no reader, is a terminal of another user, or there is no /proc.
  }
}

/** Why a command did not start, and the next step. */
function problemOf(file: string, error: NodeJS.ErrnoException, cwd = "."): Exit {
  const problem = directoryProblem(cwd) ?? scriptProblem(file, error, cwd);
  if (problem !== undefined) return { code: EXIT.notExecutable, problem };
  if (error.code === "ENOENT") return { code: EXIT.notFound, problem: notFound(file) };
  const why = error.code === "EACCES" ? "not executable, see chmod +x" : error.code;
  return { code: EXIT.notExecutable, problem: `${file}: ${why ?? error.message}` };
}

function notFound(file: string): string {
  if (!/\s/.test(file)) return `${file}: not found`;
  return `${file}: not found; it is one word with a space: separate the arguments, or use shell`;
}

function directoryProblem(cwd: string): string | undefined {
  if (!existsSync(cwd)) return `its directory ${cwd} does not exist`;
  return statSync(cwd).isDirectory() ? undefined : `its directory ${cwd} is a file`;
}

/** A script is there, and the program that its first line names is not. */
function scriptProblem(
  file: string,
  { code }: NodeJS.ErrnoException,
  cwd: string,
): string | undefined {
  if (code !== "ENOENT" || !file.includes("/")) return undefined;
  const interpreter = interpreterOf(resolve(cwd, file));
  if (interpreter === undefined) return undefined;
  if (interpreter.endsWith("\r")) return `${file}: its lines end with CRLF, change them to LF`;
  return `${file}: its interpreter ${interpreter} is not found`;
}

/** The program that the first line of a script names. */
function interpreterOf(path: string): string | undefined {
  try {
    const [, interpreter] = /^#! *([^ \n]+)/.exec(readPart(path, 200).toString("latin1")) ?? [];
    return interpreter;
  } catch {
    return undefined;
  }
}

/** Without /proc: a process group is asked with signal 0, zombies count. */
function membersByKill(
  pid: number,
  { keepsTerminal }: GroupOptions,
  hasExited: boolean,
): readonly number[] {
  if (keepsTerminal) return hasExited ? [] : [pid];
  try {
    process.kill(-pid, 0);
    return [-pid];
  } catch {
    return []; // ESRCH: empty. EPERM (macOS): only zombies are left.
  }
}

/** A process that cannot be stopped, and why: `process 12 (sleep), which runs as user 0 (EPERM)`. */
export function describeProcess(pid: number): string {
  const uid = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? "?";
  const why = sendSignal(pid, 0)
    ? "which SIGKILL does not end"
    : `which runs as user ${uid} (EPERM)`;
  return `process ${pid} (${nameOf(pid)}), ${why}`;
}

/** Sends a signal; 0 for none. Returns false if it is not permitted. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM"; // Else it has ended meanwhile.
  }
}

/** Whether a text names a signal, such as SIGKILL. */
export function isSignalName(text: string): text is NodeJS.Signals {
  return Object.hasOwn(constants.signals, text);
}
