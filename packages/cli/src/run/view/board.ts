import type { PassiveClock } from "@holdfast/clock";
import { type Span, withSpan } from "@holdfast/kit/node";
import type { SupervisorEvent } from "../core/event.ts";
import type { Run } from "../core/process-table.ts";
import type { ProcessStatus, Statuses } from "../core/status.ts";
import type { Supervisor } from "../core/supervisor.ts";
import type { BackoffSpec } from "../manifest/manifest.ts";
import type { HealthCheck } from "../web/health.ts";
import type { LogEntry, ProcessSnapshot, Snapshot, SnapshotSource } from "../web/snapshot.ts";
import { describeEvent } from "./describe-event.ts";
import { formatRun } from "./format-run.ts";

/** Options for a {@link Board}. */
export interface BoardOptions {
  readonly clock: PassiveClock;
  /** The manifest. */
  readonly file: string;
  /** The last lines of a process. */
  readonly linesOf?: (name: string) => readonly string[];
}

const LOG_LENGTH = 50;
/** Of the output of a process: lines, and characters of each. */
const SHOWN = { lines: 30, characters: 300 };

/** Status of a supervisor, for its page and its health checks. */
export class Board implements SnapshotSource {
  readonly #options: BoardOptions;
  readonly #listeners = new Set<() => void>();
  #supervisor: Supervisor | undefined;
  #statuses: Statuses = new Map();
  readonly #spans = new Map<string, readonly Span[]>();
  /** Without output of a process. */
  #log: readonly LogEntry[] = [];

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  /** Check of `/healthz`. */
  readonly alive: HealthCheck = {
    name: "controller",
    problem: () => {
      const stuck = this.#supervisor?.controller
        .status()
        .inFlight.filter(({ state }) => state === "stuck");
      return stuck?.length ? `${stuck.map(({ key }) => key).join(", ")} does not stop` : undefined;
    },
  };

  /** Check of `/readyz`. */
  readonly ready: HealthCheck = {
    name: "processes",
    problem: () => {
      const names = this.#processes()
        .filter(({ ready }) => ready === false)
        .map(({ name }) => name);
      return names.length === 0 ? undefined : `${names.join(", ")} not ready`;
    },
  };

  follow(supervisor: Supervisor): void {
    this.#supervisor = supervisor;
  }

  /** @param statuses - as they are after the event */
  show(event: SupervisorEvent, statuses: Statuses): void {
    const at = this.#epoch + event.at;
    const entries = describeEvent(silentEvent(event), silentStatuses(statuses)).map(
      ({ who, text }) => ({
        at,
        name: who,
        text,
      }),
    );
    this.#statuses = statuses;
    for (const name of this.#spans.keys()) if (!statuses.has(name)) this.#spans.delete(name);
    for (const [name, status] of statuses) {
      const state = stateOf(status);
      const spans = this.#spans.get(name) ?? [];
      this.#spans.set(name, withSpan(spans, { at, look: state, text: state }));
    }
    this.#log = [...this.#log, ...entries].slice(-LOG_LENGTH);
    for (const listener of this.#listeners) listener();
  }

  snapshot(): Snapshot {
    const { clock, file } = this.#options;
    const [at, { pid }] = [clock.now(), process];
    return { at, file, pid, processes: this.#processes(), log: this.#log };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  get #epoch(): number {
    const { clock } = this.#options;
    return clock.now() - clock.monotonic();
  }

  /** In the order of the manifest, then those that are on their way out. */
  #processes(): readonly ProcessSnapshot[] {
    const wanted = this.#supervisor?.manifest.processes ?? new Map();
    const names = new Set([...wanted.keys(), ...this.#statuses.keys()]);
    return [...names].flatMap((name) => {
      const status = this.#statuses.get(name);
      if (status === undefined) return [];
      const facts = processSnapshot(status, wanted.get(name)?.backoff, this.#epoch);
      const lines = this.#options.linesOf?.(name).slice(-SHOWN.lines) ?? [];
      const output = lines.map((line) => line.slice(0, SHOWN.characters));
      return [{ ...facts, output, spans: this.#spans.get(name) ?? [] }];
    });
  }
}

/** The color of a process on its line of time. */
function stateOf({ phase, ready }: ProcessStatus): "ready" | "running" | "waiting" | "down" {
  if (phase === "Running") return ready === true ? "ready" : "running";
  if (phase === "Terminating") return "running";
  return phase === "Pending" || phase === "CrashLoopBackOff" ? "waiting" : "down";
}

/** A life without the last line that it printed. */
function silent<Life extends Run | undefined>(run: Life): Life {
  if (run === undefined || run.exit.kind === "error") return run;
  return { ...run, exit: { ...run.exit, words: undefined } };
}

function lastWords({ exit }: Run): string | undefined {
  return exit.kind === "error" ? undefined : exit.words;
}

function silentEvent(event: SupervisorEvent): SupervisorEvent {
  if (event.type === "exited") return { ...event, run: silent(event.run) };
  return event.type === "stopped" ? { ...event, run: silent(event.run) } : event;
}

function silentStatuses(statuses: Statuses): Statuses {
  return new Map(
    [...statuses].map(([name, status]) => [name, { ...status, lastRun: silent(status.lastRun) }]),
  );
}

/**
 * A process as a page shows it.
 *
 * @param backoff - undefined if it is no longer in the manifest
 * @param epoch - the instant on the wall clock at which the monotonic one was 0
 */
function processSnapshot(
  status: ProcessStatus,
  backoff: BackoffSpec | undefined,
  epoch: number,
): Omit<ProcessSnapshot, "output" | "spans"> {
  const { name, phase, ready, reason, pid, starts, lastRun, nextStart, waits } = status;
  const longest = Math.max(0, ...waits.map(({ planned }) => planned));
  return {
    name,
    phase,
    ready,
    reason,
    pid,
    waits,
    restarts: Math.max(starts - 1, 0),
    lastExit: lastRun && formatRun(silent(lastRun)),
    lastWords: lastRun && lastWords(lastRun),
    nextStart: nextStart === undefined ? undefined : epoch + nextStart,
    cap: backoff === undefined ? longest : backoff.cap * (1 + backoff.jitter),
  };
}
