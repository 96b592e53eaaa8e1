import { isStop } from "@holdfast/kit";
import { isTimeoutError } from "@holdfast/wait";
import type { Lease } from "../election/lease.ts";

/** A kind of request to a lock. */
export type LockRequest = "read" | "write";

interface Failure {
  readonly request: LockRequest;
  readonly error: unknown;
  isReported: boolean;
}

/** A lease by the name of its lock, whose requests fail for itself alone. One sequence of requests runs at a time. */
export class NamedLease {
  readonly name: string;
  readonly lease: Lease;
  #failure: Failure | undefined;
  /** Number of sequences that run or wait. */
  #running = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string, lease: Lease) {
    this.name = name;
    this.lease = lease;
  }

  /** Error of the latest request; undefined if it succeeded. */
  get error(): unknown {
    return this.#failure?.error;
  }

  /** The request that failed last. A write that has failed still counts after reads, while nobody holds the lease. */
  get failed(): LockRequest | undefined {
    return this.#failure?.request;
  }

  /** Whether the lock does not answer: it is not worth a wait. */
  get isHanging(): boolean {
    return this.#failure !== undefined && isTimeoutError(this.#failure.error);
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** The error, once for each failure. */
  takeUnreported(): { readonly error: unknown } | undefined {
    const failure = this.#failure;
    if (failure === undefined || failure.isReported) return undefined;
    failure.isReported = true;
    return failure;
  }

  answered(request: LockRequest): void {
    const stays = request === "read" && this.#failure?.request === "write" && this.lease.isFree;
    if (!stays) this.#failure = undefined;
  }

  fail(request: LockRequest, error: unknown): void {
    this.#failure = { request, error, isReported: false };
  }

  /** Resolves to the answer; undefined if the lease is busy, or the requests have failed. It never rejects. */
  async attempt<Value>(
    request: LockRequest,
    work: () => Promise<Value>,
    signal: AbortSignal,
  ): Promise<{ readonly value: Value } | undefined> {
    if (this.isBusy) return undefined;
    try {
      const value = await this.alone(work);
      this.answered(request);
      return { value };
    } catch (error) {
      if (!isStop(error, signal)) this.fail(request, error);
      return undefined;
    }
  }

  /** Runs requests when those before have ended. */
  async alone<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.isBusy ? this.#last : undefined;
    this.#running++;
    const done = (async () => {
      if (before !== undefined) await before;
      return await work();
    })();
    this.#last = done.then(
      () => {},
      () => {},
    );
    try {
      return await done;
    } finally {
      this.#running--;
    }
  }
}
