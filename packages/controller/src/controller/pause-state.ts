import { Waiters } from "../waiters.ts";

/** Whether workers may take keys. Pausing can be undone, closing cannot. */
export class PauseState {
  #state: "open" | "paused" | "closed" = "open";
  /** Aborts the waits for a key that began while it was open. */
  #shut = new AbortController();
  readonly #waiting = new Waiters<void>();

  is(state: "open" | "paused" | "closed"): boolean {
    return this.#state === state;
  }

  get signal(): AbortSignal {
    return this.#shut.signal;
  }

  /** Resolves when it is opened or closed. */
  changed(): Promise<void> {
    return this.#waiting.wait(undefined);
  }

  pause(): void {
    if (this.#state !== "open") return;
    this.#state = "paused";
    this.#shut.abort();
  }

  open(): void {
    if (this.#state !== "paused") return;
    this.#state = "open";
    this.#shut = new AbortController();
    this.#waiting.resolveAll();
  }

  close(): void {
    this.#state = "closed";
    this.#shut.abort();
    this.#waiting.resolveAll();
  }
}
