import type { Clock, Timer } from "@holdfast/clock";
import { LeadershipLostError } from "./leadership-lost-error.ts";
import type { Grant } from "./lease.ts";

/** How a term stands: `"current"`, or what ended it. */
export type TermState = "current" | "stopped" | "finished" | "resigned" | "replaced" | "expired";

/** How long a term lasts. */
export interface TermOptions {
  readonly clock: Clock;
  readonly grant: Grant;
  /** How long it lasts without a renewal, in milliseconds. */
  readonly renewDeadline: number;
  /** How long nobody else leads after the last renewal, in milliseconds. */
  readonly leaseDuration: number;
}

/**
 * One time of being leader. It ends by itself when no renewal has succeeded for the renew deadline,
 * counted from before the request that succeeded last, whatever the lock does meanwhile.
 */
export class Term {
  readonly token: number;
  readonly #options: TermOptions;
  readonly #controller = new AbortController();
  readonly #timer: Timer;
  #since: number;
  #state: TermState = "current";

  constructor(options: TermOptions) {
    const { clock, grant } = options;
    this.#options = options;
    this.token = grant.token;
    this.#since = grant.since;
    this.#timer = clock.afterFunc(this.#deadline - clock.monotonic(), () => this.#expire(), {
      label: "renew deadline",
    });
  }

  get state(): TermState {
    return this.#state;
  }

  /** Aborts when the term ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it lasts; false from the deadline on, even if the process could not act on it yet. */
  get isCurrent(): boolean {
    return this.#state === "current" && this.#options.clock.monotonic() < this.#deadline;
  }

  /** The monotonic instant until which nobody else takes the lease, unless it is given back. */
  get leaseEnd(): number {
    return this.#since + this.#options.leaseDuration;
  }

  renew({ since }: Grant): void {
    if (this.#state !== "current") return;
    this.#since = since;
    this.#timer.reset(this.#deadline - this.#options.clock.monotonic());
  }

  /** Ends the term; the first end counts. */
  end(state: Exclude<TermState, "current">, reason: unknown): void {
    if (this.#state !== "current") return;
    this.#state = state;
    this.#timer.stop();
    this.#controller.abort(reason);
  }

  get #deadline(): number {
    return this.#since + this.#options.renewDeadline;
  }

  #expire(): void {
    this.end("expired", new LeadershipLostError("expired"));
  }
}
