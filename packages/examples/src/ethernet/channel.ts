import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import type { Medium } from "./medium.ts";

/** How an attempt to send ends. */
export type Outcome = "delivered" | "collided";

/** A station that waits for an event on the wire. */
interface Waiter<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The wire that all stations share.
 *
 * The other stations hear a start after the propagation delay. A station that starts before that
 * collides, and the wire is lost for one slot, counted from the first start.
 */
export class Channel {
  readonly #clock: Clock;
  readonly #medium: Medium;
  readonly #signal: AbortSignal;
  readonly #end: Timer;
  #state: "idle" | "sending" | "colliding" = "idle";
  /** When the wire was last taken. */
  #since = 0;
  /** The stations that send now: one while sending, more while colliding. */
  #senders: Waiter<Outcome>[] = [];
  /** The stations that wait for silence. */
  #listeners: Waiter<void>[] = [];

  /** Rejects all waits on the wire with `signal.reason` when `signal` aborts. */
  constructor(clock: Clock, medium: Medium, signal: AbortSignal) {
    this.#clock = clock;
    this.#medium = medium;
    this.#signal = signal;
    this.#end = clock.afterFunc(Number.POSITIVE_INFINITY, () => this.#fallSilent());
    onAbort(signal, (reason) => this.#cut(reason));
  }

  /** Whether a station that listens now detects another one. */
  get isHeard(): boolean {
    const { propagation } = this.#medium;
    return this.#state !== "idle" && this.#clock.monotonic() - this.#since >= propagation;
  }

  /** Resolves when a listening station detects silence. */
  silence(): Promise<void> {
    return this.#waiter((listener) => {
      if (this.isHeard) this.#listeners.push(listener);
      else listener.resolve();
    });
  }

  /** Sends one frame, whether or not others do: listen first. */
  send(): Promise<Outcome> {
    return this.#waiter((sender) => this.#start(sender));
  }

  #waiter<Value>(enter: (waiter: Waiter<Value>) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#signal.aborted) reject(this.#signal.reason);
      else enter({ resolve, reject });
    });
  }

  #start(sender: Waiter<Outcome>): void {
    this.#senders.push(sender);
    const { frame, slot } = this.#medium;
    switch (this.#state) {
      case "idle":
        this.#state = "sending";
        this.#since = this.#clock.monotonic();
        this.#end.reset(frame);
        break;
      case "sending":
        this.#state = "colliding";
        this.#end.reset(this.#since + slot - this.#clock.monotonic());
        break;
      case "colliding":
        break;
    }
  }

  #fallSilent(): void {
    const outcome = this.#state === "sending" ? "delivered" : "collided";
    const senders = this.#senders;
    const listeners = this.#listeners;
    this.#state = "idle";
    this.#senders = [];
    this.#listeners = [];
    for (const { resolve } of senders) resolve(outcome);
    for (const { resolve } of listeners) resolve();
  }

  #cut(reason: unknown): void {
    this.#end.stop();
    const cut = [...this.#senders, ...this.#listeners];
    this.#senders = [];
    this.#listeners = [];
    for (const { reject } of cut) reject(reason);
  }
}
