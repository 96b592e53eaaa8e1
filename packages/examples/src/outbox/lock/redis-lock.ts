import { randomUUID } from "node:crypto";
import {
  type LeaseRecord,
  LockConflictError,
  type ResourceLock,
  type Versioned,
} from "@holdfast/controller";
import { z } from "zod";
import { unlessAborted } from "../unless-aborted.ts";
import { ForgottenLeaseError } from "./forgotten-lease-error.ts";
import { READ, WRITE } from "./redis-scripts.ts";

const leaseRecord = z.object({
  holder: z.string(),
  leaseDuration: z.number(),
  acquiredAt: z.number(),
  renewedAt: z.number(),
  transitions: z.number(),
});

const found = z.tuple([z.string(), z.string().nullable(), z.number()]);
const outcome = z.tuple([z.enum(["written", "conflict", "young"]), z.number()]);

/** What is needed of a client of Redis; one of ioredis has it. */
export interface RedisClient {
  eval(script: string, keys: number, ...keysAndValues: string[]): Promise<unknown>;
}

/** How a {@link RedisLock} is used. */
export interface RedisLockOptions {
  /** The key. Nobody else may write or delete it, and Redis may not evict it. */
  readonly key: string;

  /**
   * The first token after Redis has forgotten everything, from its time in milliseconds since the
   * epoch. It must be above every token of before. Below 1 means that there is nothing before.
   *
   * @defaultValue that time: tokens stay above those of before as long as fewer than a thousand terms
   * begin in a second, and the clock of Redis is not set back by more than it was away
   */
  readonly firstToken?: ((now: number) => number) | undefined;
}

/**
 * A lock in one Redis server, that stays safe when the server forgets.
 *
 * | What Redis does | What the lock does |
 * | --- | --- |
 * | it starts, with or without what it had | holds nobody's lease; gives none before it has been up for as long as one lasts, which the first to ask says: until then `create` and `update` reject with a {@link ForgottenLeaseError} |
 * | it has no record | gives a free one, whose token is above all of before |
 * | it is away | rejects as the client does |
 *
 * So after a restart the holder steps down, and there is no other until a whole lease has passed. All
 * electors of a key must use the same lease duration. The wall clock of the server must not be set
 * forward while it is younger than that.
 *
 * For one server, not for replicas that take over from one another: the one that takes over may have
 * been up for long, and lack the lease. Where that can happen, the fencing token alone protects.
 */
export class RedisLock implements ResourceLock {
  readonly description: string;
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #firstToken: (now: number) => number;

  constructor(client: RedisClient, { key, firstToken = (now) => now }: RedisLockOptions) {
    if (key === "") throw new RangeError('options.key must not be empty, got ""');
    this.#client = client;
    this.#key = key;
    this.#firstToken = firstToken;
    this.description = `key ${key} of Redis`;
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    const [version, text, now] = found.parse(await this.#eval(READ, [], signal));
    if (text !== null) return { record: this.#recordOf(text), version };
    const transitions = this.#firstToken(now) - 1;
    if (transitions < 0) return undefined;
    const free = { holder: "", leaseDuration: 0, acquiredAt: 0, renewedAt: 0, transitions };
    return { record: free, version };
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const [version, text, now] = found.parse(await this.#eval(READ, [], signal));
    if (text !== null || record.transitions < this.#firstToken(now))
      throw new LockConflictError(this.description);
    return await this.update(record, version, signal);
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const next = randomUUID();
    const values = [version, next, JSON.stringify(record), `${record.leaseDuration}`];
    const [what, remaining] = outcome.parse(await this.#eval(WRITE, values, signal));
    if (what === "conflict") throw new LockConflictError(this.description);
    if (what === "young") throw new ForgottenLeaseError(this.description, remaining);
    return { record, version: next };
  }

  async #eval(script: string, values: readonly string[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    return await unlessAborted(this.#client.eval(script, 1, this.#key, ...values), signal);
  }

  /** To take what is no record for a free one could make two holders. */
  #recordOf(text: string): LeaseRecord {
    try {
      return leaseRecord.parse(JSON.parse(text));
    } catch (cause) {
      throw new Error(`${this.description} holds no lease record`, { cause });
    }
  }
}
