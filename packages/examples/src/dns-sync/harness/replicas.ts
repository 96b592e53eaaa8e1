import type { Clock } from "@holdfast/clock";
import { backoffUntil, ExponentialBackoffManager } from "@holdfast/wait";
import { Replica, type ReplicaExit, type ReplicaListeners } from "./replica/replica.ts";
import type { ReplicaOptions } from "./replica/report.ts";

/** Backoff between an exit and the next start, in milliseconds. */
const RESTART = { duration: 500, factor: 2, cap: 10_000, jitter: 0.2, resetAfter: 10_000 };

/** Time from SIGTERM to SIGKILL in milliseconds. */
const STOP_LIMIT = 60_000;

export interface ReplicasOptions extends ReplicaListeners {
  readonly size: number;
  readonly clock: Clock;
  readonly replica: Omit<ReplicaOptions, "name">;
  readonly onExit: (replica: Replica, exit: ReplicaExit) => void;
}

/** Replicas of the operator, restarted after every exit. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #replicas = new Set<Replica>();
  #started = 0;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** Replicas that have not exited, sorted by name. */
  get all(): readonly Replica[] {
    return [...this.#replicas].sort((a, b) => a.name.localeCompare(b.name));
  }

  /** The replica that reports the highest token. */
  get leader(): Replica | undefined {
    const tokenOf = ({ report }: Replica): number => report?.token ?? -1;
    const leaders = this.all.filter((one) => one.state === "running" && tokenOf(one) >= 0);
    return leaders.sort((a, b) => tokenOf(b) - tokenOf(a))[0];
  }

  /** Keeps the replicas running until the signal aborts, then stops them all gracefully. */
  async run(signal: AbortSignal): Promise<void> {
    const { size, clock } = this.#options;
    const places = Array.from({ length: size }, async (_, index) => {
      const manager = new ExponentialBackoffManager({ ...RESTART, clock });
      await backoffUntil(() => this.#employ(index + 1, signal), manager, true, signal);
    });
    await Promise.all(places);
  }

  killAll(): void {
    for (const replica of this.#replicas) replica.kill();
  }

  async #employ(place: number, signal: AbortSignal): Promise<void> {
    const { clock, replica: options, onExit } = this.#options;
    const name = `replica-${place}.${++this.#started}`;
    const replica = new Replica({ ...options, name }, clock, this.#options);
    this.#replicas.add(replica);
    const stop = (): void => {
      replica.resume();
      replica.stop();
    };
    using limit = clock.afterFunc(STOP_LIMIT, () => replica.kill(), { label: "stop limit" });
    limit.stop();
    const onStop = (): void => {
      stop();
      limit.reset(STOP_LIMIT);
    };
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    const exit = await replica.exited;
    signal.removeEventListener("abort", onStop);
    this.#replicas.delete(replica);
    onExit(replica, exit);
  }
}
