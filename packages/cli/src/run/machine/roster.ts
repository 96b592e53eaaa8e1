import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { OwnFolder } from "./own-folder.ts";
import { ownPids, processesWith, processState } from "./proc.ts";

/** Options for {@link Roster.endLeftovers}. */
export interface EndLeftoversOptions {
  readonly clock: Clock;
  /** How long they may take to end after SIGTERM, in milliseconds. */
  readonly grace: number;
  /** Ends the wait: it rejects with `signal.reason`, and the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called before a leftover process is stopped. */
  readonly onFound?: (pid: number) => void;
}

interface Entry {
  /** Its file in the folder. */
  readonly name: string;
  readonly pid: number;
  readonly startTime: string;
}

/** The environment variable that names the roster of a process. */
const MARK = "HOLDFAST_RUN";

/** Pid and start time. The group of process 1 would be all processes. */
const ENTRY = /^(?:[2-9]|[1-9]\d+)-\w+$/;

/** Period of the check for ended processes, in milliseconds. */
const PERIOD = 20;

/**
 * The processes that a supervisor has started, on disk, so that the next one finds what a killed one has left. Each
 * process is an empty file with all facts in its name, so an entry is complete or absent. Linux only.
 *
 * A supervisor may be killed after it has started a process and before it has noted it. So each carries a
 * mark, too. The mark alone would not do: servers that write over their environment lose it.
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
    return { [MARK]: this.#folder.path };
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

  /** Ends the processes of an earlier supervisor. Resolves when all of them have exited. */
  async endLeftovers({ clock, grace, signal, onFound }: EndLeftoversOptions): Promise<void> {
    const own = ownPids();
    const leftovers = this.#entries().filter(({ pid }) => !own.has(pid));
    const end = async (leftover: Entry): Promise<void> => {
      if (!isOver(leftover)) onFound?.(leftover.pid);
      await endLeftover(leftover, { clock, grace, signal });
      this.#folder.remove(leftover.name);
    };
    await Promise.all(leftovers.map(end));
    const killMarked = (): boolean => {
      const pids = processesWith(MARK, this.#folder.path).filter((pid) => !own.has(pid));
      for (const pid of pids) send(pid, "SIGKILL");
      return pids.length === 0;
    };
    await poll(killMarked, { backoff: { duration: PERIOD }, clock, signal });
  }

  #entries(): readonly Entry[] {
    return this.#folder.names(ENTRY).map((name) => {
      const [pid = "", startTime = ""] = name.split("-");
      return { name, pid: Number(pid), startTime };
    });
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

function isOver({ pid, startTime }: Entry): boolean {
  const state = processState(pid);
  return state === undefined || state.isZombie || state.startTime !== startTime;
}

async function endLeftover(
  leftover: Entry,
  { clock, grace, signal }: Omit<EndLeftoversOptions, "onFound">,
): Promise<void> {
  const { pid, startTime } = leftover;
  if (!isOver(leftover)) {
    send(-pid, "SIGTERM");
    send(-pid, "SIGCONT");
  }
  const deadline = clock.monotonic() + grace;
  const options = { backoff: { duration: PERIOD }, clock, signal };
  await poll(() => isOver(leftover) || clock.monotonic() >= deadline, options);
  // Kills the rest of its group. A free pid is not reused while it names a group.
  const { startTime: now = startTime } = processState(pid) ?? {};
  if (now === startTime) send(-pid, "SIGKILL");
  await poll(() => isOver(leftover), options);
}
