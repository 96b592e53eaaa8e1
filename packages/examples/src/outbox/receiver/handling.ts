import type { Fault } from "./fault.ts";

/** The message of a request, and its sender. */
export interface Arrival {
  /** The message's. */
  readonly id: string;
  /** The sender that the request names. */
  readonly sender: string | undefined;
}

/** One attempt of a message at its receiver. */
export class Handling implements Arrival {
  readonly id: string;
  readonly sender: string | undefined;
  /** Which one of the message it is, from 1. */
  readonly attempt: number;
  /** Its fault; undefined until it is read. */
  fault: Fault | undefined;
  /**
   * Resolves when it is known whether it overlaps with another one. A response has to wait for that:
   * after it, an earlier loss of the sender cannot be detected.
   */
  judged: Promise<void> = Promise.resolve();
  readonly #onOver: () => void;
  #state: "open" | "over" | "left" = "open";

  /** @param onOver - called once, when it is over or left */
  constructor({ id, sender }: Arrival, attempt: number, onOver: () => void) {
    this.id = id;
    this.sender = sender;
    this.attempt = attempt;
    this.#onOver = onOver;
  }

  /** Whether its sender had gone before it was over. */
  get isLeft(): boolean {
    return this.#state === "left";
  }

  /** It has its response, or never will. */
  end(): void {
    this.#become("over");
  }

  /** Its sender has gone. */
  leave(): void {
    this.#become("left");
  }

  #become(state: "over" | "left"): void {
    if (this.#state !== "open") return;
    this.#state = state;
    this.#onOver();
  }
}
