import type { Clock, Timer } from "@holdfast/clock";
import { type LeadershipLoss, LeadershipLostError } from "./leadership-lost-error.ts";
import { elapsedSince, type Grant } from "./lease.ts";

/**
 * Phase of a term.
 *
 * | State | Work | Lease |
 * | --- | --- | --- |
 * | `"leading"` | runs | renewed |
 * | `"stopping"` | was aborted and may finish | renewed |
 * | `"lost"` | must drop everything | may belong to another process |
 * | `"finished"` | has settled | held until it is released |
 */
export type TermState = "leading" | "stopping" | "lost" | "finished";

/** Options for a {@link Term}. */
export interface TermOptions {
  readonly clock: Clock;
  readonly grant: Grant;
  /** How long the term lasts without a renewal, in milliseconds. */
  readonly renewDeadline: number;
  /** How long others respect the lease after a renewal, in milliseconds. */
  readonly leaseDuration: number;
}

/**
 * One term of a leader. The lease counts as lost when no renewal has succeeded for the renew deadline,
 * measured from before the last request that succeeded. Other responses of the lock do not matter. The timer uses the
 * monotonic clock; whoever asks whether the lease is held hears of a suspension too.
 */
export class Term {
  readonly token: number;
  readonly #options: TermOptions;
  readonly #stop = new AbortController();
  readonly #lost = new AbortController();
  readonly #renewing = new AbortController();
  readonly #timer: Timer;
  #grant: Grant;
  #state: TermState = "leading";
  #stopRequestedAt: number | undefined = undefined;

  constructor(options: TermOptions) {
    const { clock, grant } = options;
    this.#options = options;
    this.token = grant.token;
    this.#grant = grant;
    this.#timer = clock.afterFunc(this.#deadline - clock.monotonic(), () => this.lose("expired"), {
      label: "renew deadline",
    });
  }

  get state(): TermState {
    return this.#state;
  }

  /** Aborts when the term ends in any way. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when the lease is lost before the work has settled. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Aborts when renewals are useless: the lease is lost, or the work has settled. */
  get renewing(): AbortSignal {
    return this.#renewing.signal;
  }

  /** Whether the lease is held for the work; false from the deadline on, even before the timer fires. */
  get holdsLease(): boolean {
    const isHeld = this.#state === "leading" || this.#state === "stopping";
    return isHeld && !this.#isOver;
  }

  /** Monotonic instant until which others respect the lease, unless it is released. */
  get leaseEnd(): number {
    return this.#grant.since + this.#options.leaseDuration;
  }

  /** Monotonic instant at which `signal` aborted. */
  get stopRequestedAt(): number | undefined {
    return this.#stopRequestedAt;
  }

  /** As {@link Leadership.isHeld}: ends a term that is over, before its timer fires. */
  get isHeld(): boolean {
    this.#expire();
    return this.holdsLease;
  }

  renew(grant: Grant): void {
    if (this.#renewing.signal.aborted) return;
    this.#grant = grant;
    this.#timer.reset(this.#deadline - this.#options.clock.monotonic());
  }

  /** Asks the work to finish, under the lease. */
  stop(reason: unknown): void {
    if (this.#state !== "leading") return;
    this.#state = "stopping";
    this.#stopWork(reason);
  }

  /** Tells the work to drop everything. */
  lose(loss: LeadershipLoss): void {
    if (this.#renewing.signal.aborted) return;
    this.#state = "lost";
    this.#timer.stop();
    const error = new LeadershipLostError(loss);
    this.#renewing.abort(error);
    this.#lost.abort(error);
    this.#stopWork(error);
  }

  /** The work has settled. */
  finish(): void {
    if (this.#renewing.signal.aborted) return;
    this.#state = "finished";
    this.#timer.stop();
    this.#renewing.abort();
    this.#stopWork(undefined);
  }

  #expire(): void {
    if (this.#isOver) this.lose("expired");
  }

  get #isOver(): boolean {
    const { clock, renewDeadline } = this.#options;
    return elapsedSince(this.#grant, clock) >= renewDeadline;
  }

  get #deadline(): number {
    return this.#grant.since + this.#options.renewDeadline;
  }

  #stopWork(reason: unknown): void {
    this.#stopRequestedAt ??= this.#options.clock.monotonic();
    this.#stop.abort(reason);
  }
}
