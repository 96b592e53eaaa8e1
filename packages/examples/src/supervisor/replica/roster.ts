import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "@holdfast/clock";
import { pollUntil } from "@holdfast/wait/go";
import { processState } from "../machine/process-state.ts";
import { processesWith } from "../machine/processes-with.ts";
import { signalGroup } from "../machine/signal-group.ts";

/** Options for {@link Roster.endOrphans}. */
export interface EndOrphansOptions {
  readonly clock: Clock;
  /** Those that were started with a lower token than this. */
  readonly before: number;
  /** How long they may take to end after SIGTERM, in milliseconds. */
  readonly grace: number;
  /** Ends the wait: it rejects with `signal.reason`, and the next call continues. */
  readonly signal?: AbortSignal | undefined;
}

interface Entry {
  readonly file: string;
  readonly token: number;
  readonly pid: number;
  readonly startTime: string;
}

/** The environment variable that holds token and roster of a process. */
const MARK = "HOLDFAST_ROSTER";

/** Period of the check for ended processes, in milliseconds. */
const PERIOD = 20;

/**
 * The processes that leaders have started, on disk, so that a leader finds the orphans of a killed one. Each
 * process is an empty file with all facts in its name, so an entry is complete or absent.
 *
 * A leader may be killed after it has started a process and before it has noted it. So each carries a
 * mark, too. The mark alone would not do: servers that write over their environment lose it.
 */
export class Roster {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = resolve(directory);
    mkdirSync(directory, { recursive: true });
  }

  /** Environment variables of a process that is started with this token. */
  mark(token: number): Readonly<Record<string, string>> {
    return { [MARK]: `${token} ${this.#directory}` };
  }

  /** Adds a process that has just started. Dispose of the result when the process has ended. */
  add(token: number, pid: number): Disposable {
    const name = `${token}-${pid}-${processState(pid)?.startTime}`;
    const file = join(this.#directory, name);
    writeFileSync(file, "");
    return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
  }

  /** Ends the orphans of earlier leaders. Resolves when all of them have exited. */
  async endOrphans({ before, ...options }: EndOrphansOptions): Promise<void> {
    const orphans = this.#entries().filter(({ token }) => token < before);
    await Promise.all(orphans.map((orphan) => endOrphan(orphan, options)));
    const { clock, signal } = options;
    await pollUntil(() => this.#killMarked(before), PERIOD, { clock, signal });
  }

  /** @returns whether there was no process to kill */
  #killMarked(before: number): boolean {
    const orphans = processesWith(MARK).filter(({ value }) => {
      const token = Number.parseInt(value, 10);
      return token < before && value === this.mark(token)[MARK];
    });
    for (const { pid } of orphans) killProcess(pid);
    return orphans.length === 0;
  }

  #entries(): readonly Entry[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const [, token, pid, startTime = ""] = /^(\d+)-(\d+)-(\w+)$/.exec(name) ?? [];
      const file = join(this.#directory, name);
      return pid ? [{ file, token: Number(token), pid: Number(pid), startTime }] : [];
    });
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

async function endOrphan(
  { file, pid, startTime }: Entry,
  { clock, grace, signal }: Omit<EndOrphansOptions, "before">,
): Promise<void> {
  const isOver = (): boolean => {
    const state = processState(pid);
    return state === undefined || state.isZombie || state.startTime !== startTime;
  };
  if (!isOver()) signalGroup(pid, "SIGTERM");
  const deadline = clock.monotonic() + grace;
  await pollUntil(() => isOver() || clock.monotonic() >= deadline, PERIOD, { clock, signal });
  // Kills the rest of its group. A free pid is not reused while it names a group.
  const { startTime: now = startTime } = processState(pid) ?? {};
  if (now === startTime) signalGroup(pid, "SIGKILL");
  await pollUntil(isOver, PERIOD, { clock, signal });
  rmSync(file, { force: true });
}
