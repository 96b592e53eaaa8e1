import {
  type LeaseRecord,
  MemoryLock,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";

type Call = "get" | "create" | "update";

/** Does what was asked for, under the signal that came with it or another. */
type LockRequest = (signal?: AbortSignal) => Promise<Versioned | undefined>;

/** What happens to a request instead of what it asks for. */
type Fault = (request: LockRequest) => Promise<Versioned | undefined>;

/** A lock in memory that records its calls, and fails on demand. Several can share one `lock`. */
export class RecordingLock implements ResourceLock {
  readonly description = "recording";
  lock: MemoryLock;
  readonly calls: Call[] = [];
  readonly #faults: Fault[] = [];
  #always: Fault | undefined;

  constructor(lock: MemoryLock = new MemoryLock()) {
    this.lock = lock;
  }

  /** For the next requests, one each; the others are served. */
  failNext(...faults: Fault[]): void {
    this.#faults.push(...faults);
  }

  /** For all requests from now on; undefined serves them again. */
  failAll(fault: Fault | undefined): void {
    this.#always = fault;
  }

  get(signal: AbortSignal): Promise<Versioned | undefined> {
    return this.#call("get", (used = signal) => this.lock.get(used));
  }

  create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    return this.#call("create", (used = signal) =>
      this.lock.create(record, used),
    ) as Promise<Versioned>;
  }

  update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    return this.#call("update", (used = signal) =>
      this.lock.update(record, version, used),
    ) as Promise<Versioned>;
  }

  #call(name: Call, request: LockRequest): Promise<Versioned | undefined> {
    this.calls.push(name);
    const fault = this.#faults.shift() ?? this.#always;
    return fault === undefined ? request() : fault(request);
  }
}

/** The request is served. */
export const serve: Fault = (request) => request();

/** The request hangs, whatever its signal says. */
export const hang: Fault = () => new Promise(() => {});

/** The request is served and the reply is lost. */
export const loseReply: Fault = async (request) => {
  await request();
  return await new Promise(() => {});
};

/** The request fails. */
export const refuse: Fault = () => Promise.reject(new Error("refused"));
