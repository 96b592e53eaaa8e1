import type { PassiveClock } from "@holdfast/clock";
import type { LogEntry } from "../../web/log-entry.ts";
import type { StatusSource } from "../../web/status-source.ts";
import type { ProgramDatabase } from "../database/program-database.ts";
import { type Holding, NOTHING_SEEN } from "../observe.ts";
import type { Progress } from "../progress.ts";
import type { Inbox } from "../receiver/inbox.ts";
import type { LockSnapshot, Snapshot, WorkerSnapshot } from "./snapshot.ts";

const LOG_LENGTH = 50;

/** Options for {@link Board}. */
export interface BoardOptions {
  readonly clock: PassiveClock;
  readonly tables: Pick<ProgramDatabase, "name" | "dialect">;
  readonly inbox: Pick<Inbox, "name">;
}

/** The state of a run for its page. */
export class Board implements StatusSource<Snapshot> {
  readonly #options: BoardOptions;
  readonly #listeners = new Set<() => void>();
  #progress: Progress = NOT_BEGUN;
  #holding: Holding | undefined;
  #log: readonly LogEntry[] = [];

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  show(progress: Progress): void {
    this.#progress = progress;
    this.#holding = progress.lock ?? this.#holding;
    this.#changed();
  }

  /** @param name - the worker it is about */
  log(text: string, name?: string): void {
    const entry = { at: this.#options.clock.now(), name, text };
    this.#log = [...this.#log, entry].slice(-LOG_LENGTH);
    this.#changed();
  }

  snapshot(): Snapshot {
    const { clock, tables, inbox } = this.#options;
    const database = tables.name === "pglite" ? "PGlite" : tables.dialect.name;
    return {
      at: clock.now(),
      parts: `${database}, ${inbox.name === "broker" ? "RabbitMQ" : "a webhook"}`,
      ...factsOf(this.#progress),
      lock: this.#lock(),
      log: this.#log,
    };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** A task holds the lock for half of each second: without the last holder the page would flicker. */
  #lock(): LockSnapshot | undefined {
    const isHeld = this.#progress.lock !== undefined;
    if (this.#holding === undefined) return undefined;
    const holder = this.#holding.holder.replace(/\/recovery$/, "");
    return { ...this.#holding, holder, state: isHeld ? "held" : "free" };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

type Facts = Omit<Snapshot, "at" | "parts" | "lock" | "log">;

/** Before the first look. */
const NOT_BEGUN: Progress = {
  ...NOTHING_SEEN,
  state: "running",
  trouble: undefined,
  elapsed: 0,
  messages: 0,
  open: 0,
  takenBack: 0,
  received: { attempts: 0, open: 0, effects: 0, duplicates: 0, overlaps: 0 },
  workers: [],
  killed: 0,
  expired: 0,
};

function factsOf(progress: Progress): Facts {
  const { state, trouble, messages, open, statuses, received, killed } = progress;
  return {
    state,
    trouble,
    received,
    killed,
    orders: { total: messages, placed: messages - open },
    messages: statuses,
    workers: workersOf(progress),
  };
}

/** The processes, and then those that have gone and left claims. */
function workersOf({ workers, claims }: Progress): readonly WorkerSnapshot[] {
  const claimed = new Map(claims.map((each) => [each.worker, each]));
  const members = workers.map((member): WorkerSnapshot => {
    const { count = 0, until } = claimed.get(member.name) ?? {};
    claimed.delete(member.name);
    return { ...member, claims: count, until };
  });
  const gone = [...claimed.values()].map(({ worker, count, until }): WorkerSnapshot => {
    return { name: worker, state: "gone", pid: undefined, claims: count, until };
  });
  return [...members, ...gone];
}
