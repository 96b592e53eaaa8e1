import type { LeaseRecord, ResourceLock, Versioned } from "@holdfast/controller";
import type { SkewedClock } from "../../../../test/skewed-clock.ts";

/** A lock as one process sees it: over a network, with replies that reach it only if it runs. */
export class RemoteLock implements ResourceLock {
  readonly description = "remote";
  protected readonly lock: ResourceLock;
  readonly #process: SkewedClock;
  readonly #travel: () => Promise<void>;

  /** @param travel - a request or a reply on its way; one that is lost never comes */
  constructor(lock: ResourceLock, process: SkewedClock, travel: () => Promise<void>) {
    this.lock = lock;
    this.#process = process;
    this.#travel = travel;
  }

  get(): Promise<Versioned | undefined> {
    return this.send((signal) => this.lock.get(signal));
  }

  create(record: LeaseRecord): Promise<Versioned> {
    return this.send((signal) => this.lock.create(record, signal));
  }

  update(record: LeaseRecord, version: string): Promise<Versioned> {
    return this.send((signal) => this.lock.update(record, version, signal));
  }

  /** Ignores the signal that it is given, as a bad client would. */
  protected async send<Value>(request: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { signal } = new AbortController();
    await this.#travel();
    const reply = request(signal);
    await reply.catch(() => {});
    await this.#travel();
    await new Promise<void>((resolve) => this.#process.deliver(resolve));
    return await reply;
  }
}

/** A lock that can be listed with others of the same process. */
export class RemoteListedLock extends RemoteLock {
  list(locks: readonly ResourceLock[]): Promise<readonly (Versioned | undefined)[]> {
    return this.send((signal) =>
      Promise.all((locks as RemoteListedLock[]).map(({ lock }) => lock.get(signal))),
    );
  }
}
