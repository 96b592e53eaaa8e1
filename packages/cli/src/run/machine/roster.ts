import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { ownPids, processesWith, processState, runningProcesses } from "../../proc.ts";
import { sendSignal } from "../../process-group.ts";
import { OwnFolder } from "./own-folder.ts";

/** Options for {@link Roster.endLeftovers}. */
export interface EndLeftoversOptions {
  readonly clock: Clock;
  /** How long they may take to end after SIGTERM, in milliseconds. */
  readonly grace: number;
  /** Ends the wait: it rejects with `signal.reason`, and the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called before a leftover process is stopped, with its group. */
  readonly onFound?: (pid: number) => void;
  /** Called with a leftover process that cannot be stopped, which is waited for no longer. */
  readonly onLost?: (pid: number) => void;
}

interface Entry {
  /** Its file in the folder. */
  readonly name: string;
  readonly pid: number;
  readonly startTime: string;
}

/** The environment variable that names the roster of a process, and the supervisor that has started it. */
const MARK = "HOLDFAST_RUN";

/** Pid and start time. The group of process 1 would be all processes. */
const ENTRY = /^(?:[2-9]|[1-9]\d+)-\w+$/;

/** What a killed supervisor was, see {@link noteKilled}. */
const KILLED = /^killed-\d+-\w*$/;

/** Period of the check for ended processes, in milliseconds. */
const PERIOD = 20;
/** How long processes may take to end after SIGKILL, in milliseconds. */
const KILL_TIMEOUT = 10_000;

/**
 * The processes that a supervisor has started, on disk, so that the next one finds what a killed one has left. Each
 * process is an empty file with all facts in its name, so an entry is complete or absent. Linux only.
 *
 * A supervisor may be killed after it has started a process and before it has noted it. So each carries a
 * mark, too. The mark alone would not do: servers that write over their environment lose it. It names the supervisor:
 * a daemon of one that has ended in order is no leftover.
 */
export class Roster {
  readonly #folder: OwnFolder;

  /** @param directory - an absolute path; made if it is missing */
  constructor(directory: string) {
    this.#folder = new OwnFolder(directory);
    this.#folder.make();
  }

  /** Environment variable of a process that is started. */
  get mark(): Readonly<Record<string, string>> {
    return { [MARK]: this.#markOf(OWN) };
  }

  /** Adds a process that has just started. Dispose of the result when the process has ended. */
  add(pid: number): Disposable {
    const name = `${pid}-${processState(pid)?.startTime}`;
    try {
      this.#folder.write(name, "");
    } catch {
      // A full disk stops no process: its mark remains.
    }
    return { [Symbol.dispose]: () => this.#folder.remove(name) };
  }

  /**
   * Ends the processes that killed supervisors have left: SIGTERM, and SIGKILL after `grace`. Resolves when all of them have
   * exited, or stay although they were killed.
   */
  async endLeftovers(options: EndLeftoversOptions): Promise<void> {
    const { clock, grace, signal, onFound, onLost } = options;
    const notes = this.#folder.names(KILLED);
    const entries = this.#entries();
    const own = ownPids();
    const marks = [OWN, ...notes.map((name) => name.slice("killed-".length))].map(this.#markOf);
    const left = (): readonly number[] => {
      const groups = new Set(entries.filter(hasGroup).map(({ pid }) => pid));
      const members = runningProcesses().filter(({ group }) => groups.has(group));
      const pids = [...members.map(({ pid }) => pid), ...processesWith(MARK, marks)];
      return [...new Set(pids)].filter((pid) => !own.has(pid));
    };
    const found = left();
    for (const pid of leadersOf(found)) onFound?.(pid);
    for (const pid of found) sendSignal(pid, "SIGTERM");
    for (const pid of found) sendSignal(pid, "SIGCONT"); // A stopped process could not react.
    const startedAt = clock.monotonic();
    /** Whether none is left, or none that ends. */
    const isOver = (): boolean => {
      const pids = left();
      const elapsed = clock.monotonic() - startedAt;
      if (elapsed < grace) return pids.length === 0;
      const killed = pids.filter((pid) => sendSignal(pid, "SIGKILL"));
      return killed.length === 0 || elapsed >= grace + KILL_TIMEOUT;
    };
    await poll(isOver, { interval: PERIOD, clock, signal });
    const lost = left();
    for (const pid of lost) onLost?.(pid);
    const groups = new Set(lost.map((pid) => processState(pid)?.group));
    const gone = entries.filter(({ pid }) => !groups.has(pid)).map(({ name }) => name);
    for (const name of lost.length === 0 ? [...gone, ...notes] : gone) this.#folder.remove(name);
  }

  readonly #markOf = (supervisor: string): string => `${this.#folder.path}/${supervisor}`;

  #entries(): readonly Entry[] {
    return this.#folder.names(ENTRY).map((name) => {
      const [pid = "", startTime = ""] = name.split("-");
      return { name, pid: Number(pid), startTime };
    });
  }
}

/** This supervisor. */
const OWN = `${process.pid}-${processState(process.pid)?.startTime ?? ""}`;

/**
 * Notes that a supervisor was killed: processes with its mark are leftovers.
 *
 * @param folder - that of a {@link Roster}
 * @param supervisor - its pid and start time, as `12-345`
 */
export function noteKilled(folder: OwnFolder, supervisor: string): void {
  try {
    folder.write(`killed-${supervisor}`, "");
  } catch {
    // It has noted no process.
  }
}

/** The first processes of the groups of some processes; the others, where that has ended. */
function leadersOf(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => {
    const group = processState(pid)?.group ?? pid;
    return group === pid || !pids.includes(group);
  });
}

/** Whether the pid of a noted process names its group still. A free pid is not reused while it names a group. */
function hasGroup({ pid, startTime }: Entry): boolean {
  const now = processState(pid);
  return now === undefined || now.startTime === startTime;
}
