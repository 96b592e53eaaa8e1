import type { PassiveClock } from "@holdfast/clock";
import type { LogEntry } from "../../web/log-entry.ts";
import type { StatusSource } from "../../web/status-source.ts";
import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";
import type { Supervisor } from "../core/supervisor.ts";
import type { HealthCheck } from "../web/health.ts";
import type { LeaderSnapshot, ProcessSnapshot, Snapshot } from "../web/snapshot.ts";
import { describeEvent } from "./describe-event.ts";
import { processSnapshot } from "./process-snapshot.ts";

/** Options for a {@link Board}. */
export interface BoardOptions {
  readonly clock: PassiveClock;
  /** Identity of this supervisor. */
  readonly identity: string;
  /** The manifest. */
  readonly file: string;
}

/** A supervisor and the right by which it works. */
interface Work {
  readonly supervisor: Supervisor;
  readonly leader: LeaderSnapshot;
}

const LOG_LENGTH = 50;
const IDLE = { size: 0, delayed: 0, inFlight: 0 };

/** Status of this program, for its page and its health checks. */
export class Board implements StatusSource<Snapshot> {
  readonly #options: BoardOptions;
  readonly #listeners = new Set<() => void>();
  /** Undefined unless this supervisor leads. */
  #work: Work | undefined;
  #statuses: Statuses = new Map();
  #log: readonly LogEntry[] = [];

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  /** Check of `/healthz`. */
  readonly alive: HealthCheck = {
    name: "controller",
    problem: () => {
      const stuck = this.#work?.supervisor.controller
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

  /** The supervisor that works from now on, with this token; undefined if none does. */
  follow(supervisor: Supervisor | undefined, token = 0): void {
    const { clock, identity } = this.#options;
    const leader = { identity, token, since: clock.now() };
    this.#work = supervisor && { supervisor, leader };
    this.#changed();
  }

  /** @param statuses - as they are after the event */
  show(event: SupervisorEvent, statuses: Statuses): void {
    const at = this.#epoch + event.at;
    const entries = describeEvent(event, statuses).map(({ who, text }) => {
      return { at, name: "name" in event ? who : undefined, text };
    });
    this.#statuses = statuses;
    this.#log = [...this.#log, ...entries].slice(-LOG_LENGTH);
    this.#changed();
  }

  snapshot(): Snapshot {
    const { clock, identity, file } = this.#options;
    const role = this.#work === undefined ? "standby" : "leader";
    return {
      at: clock.now(),
      identity,
      file,
      log: this.#log,
      leader: this.#work?.leader,
      replicas: [{ identity, role, pid: process.pid, restarts: 0 }],
      processes: this.#processes(),
      queue: this.#work?.supervisor.controller.status().queue ?? IDLE,
    };
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
    if (this.#work === undefined) return [];
    const wanted = this.#work.supervisor.manifest.processes;
    const names = new Set([...wanted.keys(), ...this.#statuses.keys()]);
    return [...names].flatMap((name) => {
      const status = this.#statuses.get(name);
      return status ? [processSnapshot(status, wanted.get(name)?.backoff, this.#epoch)] : [];
    });
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
