import type { Clock } from "@holdfast/clock";

/** Options for {@link Server}. */
export interface ServerOptions {
  readonly clock: Clock;
  /** How long it stays down, in milliseconds from now. */
  readonly outage: number;
  /** Number of calls served at a time. Further calls are refused at once. */
  readonly workers: number;
  /** How long it serves a call, in milliseconds. */
  readonly service: number;
  /** Told of every call. */
  readonly report: (outcome: Outcome) => void;
}

/** The outcome of a call: the server is down, too busy, or accepts it. */
export type Outcome = "down" | "refused" | "accepted";

/** A server that comes back from an outage. */
export class Server {
  readonly #options: ServerOptions;
  readonly #back: number;
  #busy = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#back = options.clock.monotonic() + options.outage;
  }

  /** Resolves at once unless the call is accepted; then when it has been served. */
  async call(): Promise<Outcome> {
    const { clock, service, report } = this.#options;
    const outcome = this.#outcome();
    report(outcome);
    if (outcome !== "accepted") return outcome;
    this.#busy++;
    await clock.sleep(service);
    this.#busy--;
    return outcome;
  }

  #outcome(): Outcome {
    const { clock, workers } = this.#options;
    if (clock.monotonic() < this.#back) return "down";
    return this.#busy < workers ? "accepted" : "refused";
  }
}
