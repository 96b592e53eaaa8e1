import { type Clock, onAbort } from "@holdfast/clock";
import { keepConnected } from "@holdfast/wait";
import type { LogEntry } from "../../web/log-entry.ts";
import type { StatusSource } from "../../web/status-source.ts";
import { mergeLogs, mergeSnapshots } from "./merge-snapshots.ts";
import { openEvents } from "./open-events.ts";
import type { Snapshot } from "./snapshot.ts";

/** Options for a {@link ReplicaFollower}. */
export interface ReplicaFollowerOptions {
  readonly clock: Clock;
  /** The parent, as a supervisor whose processes are the replicas. */
  readonly own: StatusSource<Snapshot>;
  /** The url of each replica's server, by the name of the replica. */
  readonly urls: ReadonlyMap<string, string>;
  /** Replaced by tests, which have no sockets. */
  readonly open?: typeof openEvents;
}

interface Connection {
  readonly events: Awaited<ReturnType<typeof openEvents>>;
  /** Ends the connection. */
  readonly end: AbortController;
}

const BACKOFF = { duration: 200, factor: 2, cap: 2_000, jitter: 0.1 };
/** A replica without an update for this long is stuck, in milliseconds. A server sends one per second. */
const SILENCE = 3_000;

/** Follows the replicas of a supervisor and shows them as one, across changes of the leader. */
export class ReplicaFollower implements StatusSource<Snapshot> {
  readonly name = "replica follower";
  readonly #options: ReplicaFollowerOptions;
  readonly #listeners = new Set<() => void>();
  /** Snapshots of the connected replicas. */
  readonly #replicas = new Map<string, Snapshot>();
  /** Log entries of exited replicas. */
  #past: readonly LogEntry[] = [];

  constructor(options: ReplicaFollowerOptions) {
    this.#options = options;
  }

  snapshot(): Snapshot {
    const merged = mergeSnapshots(this.#options.own.snapshot(), this.#replicas);
    return { ...merged, log: mergeLogs(this.#past, merged.log) };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Follows until `signal` aborts, and then resolves when no connection is left. */
  async run(signal: AbortSignal): Promise<void> {
    using _ = this.#options.own.onChange(() => this.#change());
    const { urls } = this.#options;
    await Promise.all([...urls].map(([name, url]) => this.#follow(name, url, signal)));
  }

  #follow(name: string, url: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return keepConnected<Connection>(
      (attempt) => this.#connect(url, attempt.signal),
      (connection, stop) => this.#read(name, connection, stop),
      {
        signal,
        clock,
        backoff: BACKOFF,
        minConnectTimeout: SILENCE,
        onLate: ({ end }) => end.abort(),
        // A connection that breaks has ended, as one has that its server closes.
        onError: () => {},
      },
    );
  }

  async #connect(url: string, attempt: AbortSignal): Promise<Connection> {
    const { open = openEvents } = this.#options;
    const end = new AbortController();
    using _ = onAbort(attempt, (reason) => end.abort(reason));
    return { events: await open(`${url}events`, end.signal), end };
  }

  async #read(name: string, { events, end }: Connection, stop: AbortSignal): Promise<void> {
    using _stop = onAbort(stop, (reason) => end.abort(reason));
    const giveUp = (): void => end.abort(new Error(`${name} is silent`));
    const label = `silence of ${name}`;
    using silence = this.#options.clock.afterFunc(SILENCE, giveUp, { label });
    try {
      for await (const { data } of events) {
        silence.reset(SILENCE);
        this.#replicas.set(name, JSON.parse(data) as Snapshot);
        this.#change();
      }
    } finally {
      this.#past = mergeLogs(this.#past, this.#replicas.get(name)?.log ?? []);
      this.#replicas.delete(name);
      this.#change();
    }
  }

  #change(): void {
    for (const listener of this.#listeners) listener();
  }
}
