import { type Clock, onAbort } from "@holdfast/clock";
import { connectionError, type NamedRequest } from "./connection-error.ts";

/** How far a body has come. */
export interface Progress {
  /** Whole lines, of a watch: events. */
  readonly lines?: number | undefined;

  /** Bytes. */
  readonly bytes?: number | undefined;
}

interface Mark {
  readonly unit: "lines" | "bytes";
  left: number;
  readonly reached: () => void;
}

const NEWLINE = 10;

/** The body of a response: the server writes into it, one reader iterates it. */
export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #state: "open" | "stalled" | "ended" | "failed" = "open";
  #failure: unknown;
  #mark: Mark | undefined;
  #wake: (() => void) | undefined;
  readonly #whenClosed: (() => void)[] = [];
  readonly #request: NamedRequest;
  readonly #signal: AbortSignal;
  readonly #abort: Disposable;

  /**
   * @param request - the request that is answered, for errors
   * @param signal - its abort fails the body with `signal.reason`
   */
  constructor(request: NamedRequest, signal: AbortSignal) {
    this.#request = request;
    this.#signal = signal;
    this.#abort = onAbort(signal, (reason) => this.fail(reason));
  }

  /** The error with which the body has failed. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Adds text, unless the body has ended. */
  write(text: string): void {
    this.#write(Buffer.from(text, "utf8"));
  }

  /** Ends the body. The reader gets the written part, then the end. */
  end(): void {
    if (this.#state === "open") this.#close("ended");
  }

  /** Ends the body with an error. The reader gets the written part, then the error. */
  fail(error: unknown): void {
    if (!this.#isConnected()) return;
    this.#failure = error;
    this.#close("failed");
  }

  /** Breaks the connection. The reader gets the written part, then the error of a reset. */
  reset(): void {
    this.fail(connectionError("ECONNRESET", this.#request));
  }

  /** Never carries a byte again, nor an end: only its reader or a failure closes it. */
  stall(): void {
    if (this.#state === "open") this.#state = "stalled";
  }

  /** Calls back in the middle of a write, once the body has come that far. */
  whenReached({ lines, bytes = 0 }: Progress, reached: () => void): void {
    const left = lines ?? bytes;
    if (left === 0) reached();
    else this.#mark = { unit: lines === undefined ? "bytes" : "lines", left, reached };
  }

  /** Calls back once when the body has ended, from either side. */
  onClose(callback: () => void): void {
    if (this.#isConnected()) this.#whenClosed.push(callback);
    else callback();
  }

  /** Waits for milliseconds. Rejects with its failure if the body is closed before. */
  pause(clock: Clock, delay: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer =
        delay === Number.POSITIVE_INFINITY
          ? undefined
          : clock.afterFunc(delay, resolve, { label: "slow response of FakeApi" });
      this.onClose(() => {
        timer?.stop();
        reject(this.#failure);
      });
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (;;) {
        this.#signal.throwIfAborted();
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.#state === "failed") throw this.#failure;
        else if (this.#state === "ended") return undefined;
        else await this.#woken();
      }
    } finally {
      if (this.#isConnected()) this.#close("ended");
    }
  }

  #isConnected(): boolean {
    return this.#state === "open" || this.#state === "stalled";
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #write(data: Uint8Array): void {
    if (this.#state !== "open" || data.length === 0) return;
    const mark = this.#mark;
    const length = mark === undefined ? data.length : lengthUpTo(mark, data);
    this.#chunks.push(data.subarray(0, length));
    this.#wake?.();
    if (mark?.left !== 0) return;
    this.#mark = undefined;
    mark.reached();
    this.#write(data.subarray(length));
  }

  #close(state: "ended" | "failed"): void {
    this.#state = state;
    this.#abort[Symbol.dispose]();
    for (const callback of this.#whenClosed.splice(0)) callback();
    this.#wake?.();
  }
}

/** Bytes up to the mark, which comes that much closer. */
function lengthUpTo(mark: Mark, data: Uint8Array): number {
  if (mark.unit === "bytes") {
    const length = Math.min(mark.left, data.length);
    mark.left -= length;
    return length;
  }
  let length = 0;
  while (mark.left > 0) {
    const newline = data.indexOf(NEWLINE, length);
    if (newline === -1) return data.length;
    mark.left -= 1;
    length = newline + 1;
  }
  return length;
}
