import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
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
  readonly file: string;
  readonly pid: number;
  readonly startTime: string;
}

/** The environment variable that names the roster of a process. */
const MARK = "HOLDFAST_RUN";

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
  readonly #directory: string;

  /** @param directory - an absolute path */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Environment variable of a process that is started. */
  get mark(): Readonly<Record<string, string>> {
    return { [MARK]: this.#directory };
  }

  /** Adds a process that has just started. Dispose of the result when the process has ended. */
  add(pid: number): Disposable {
    const file = join(this.#directory, `${pid}-${processState(pid)?.startTime}`);
    try {
      writeFileSync(file, "");
    } catch {
      // A full disk stops no process: its mark remains.
    }
    return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
  }

  /** Ends the processes of an earlier supervisor. Resolves when all of them have exited. */
  async endLeftovers({ clock, grace, signal, onFound }: EndLeftoversOptions): Promise<void> {
    const own = ownPids();
    const leftovers = this.#entries().filter(({ pid }) => !own.has(pid));
    const end = async (leftover: Entry): Promise<void> => {
      if (!isOver(leftover)) onFound?.(leftover.pid);
      await endLeftover(leftover, { clock, grace, signal });
    };
    await Promise.all(leftovers.map(end));
    const killMarked = (): boolean => {
      const pids = processesWith(MARK, this.#directory).filter((pid) => !own.has(pid));
      for (const pid of pids) send(pid, "SIGKILL");
      return pids.length === 0;
    };
    await poll(killMarked, { backoff: { duration: PERIOD }, clock, signal });
  }

  #entries(): readonly Entry[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const [, pid, startTime = ""] = /^(\d+)-(\w+)$/.exec(name) ?? [];
      const file = join(this.#directory, name);
      return pid ? [{ file, pid: Number(pid), startTime }] : [];
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
  const { file, pid, startTime } = leftover;
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
  rmSync(file, { force: true });
}
