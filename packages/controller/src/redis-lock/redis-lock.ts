import {
  abortable,
  type OptionNames,
  requireFunction,
  requireMethods,
  requireOptions,
  requireText,
} from "@holdfast/clock/internal";
import { isLeaseRecord, type LeaseRecord } from "../election/lease-record.ts";
import { LockConflictError } from "../election/lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "../election/resource-lock.ts";
import { ForgottenLeaseError } from "./forgotten-lease-error.ts";
import { READ, WRITE } from "./redis-scripts.ts";

const OPTIONS: OptionNames<RedisLockOptions> = {
  key: true,
  firstToken: true,
};

/** The response of the script for reading: the version, the record if there is one, the server's time. */
type Found = readonly [version: string, record: string | null, now: number];

/** The response of the script for writing: the outcome, and for how long the server is too young. */
type Outcome = readonly [outcome: "written" | "conflict" | "young", remaining: number];

/** A client of Redis, such as one of ioredis. */
export interface RedisClient {
  /** Runs a script with some keys and arguments. */
  eval(script: string, keys: number, ...keysAndValues: string[]): Promise<unknown>;
}

/** Options for {@link RedisLock}. */
export interface RedisLockOptions {
  /** The key. No other program may write or delete it, and Redis may not evict it. */
  readonly key: string;

  /**
   * The first token after Redis has forgotten everything, from its time in milliseconds since the
   * epoch. Must exceed every earlier token. A value below 1 means there was none.
   *
   * @defaultValue that time: tokens stay above those of before as long as fewer than a thousand terms
   * begin in a second, and the clock of Redis is not set back by more than it was away
   */
  readonly firstToken?: ((now: number) => number) | undefined;
}

/**
 * A lock in one Redis server, that stays safe when the server forgets.
 *
 * | Redis | The lock |
 * | --- | --- |
 * | starts, with or without its data | no lease is held; none is given before the server has been up for the lease duration that is asked for: until then `create` and `update` reject with a {@link ForgottenLeaseError} |
 * | has no record | gives a free one, with a token above all earlier ones |
 * | is away | rejects as the client does |
 *
 * So after a restart the holder steps down, and there is no other until a whole lease has passed. All
 * electors of a key must use the same lease duration. The wall clock of the server must not be set
 * forward while it is younger than that.
 *
 * The user of Redis needs the rights `+eval +info +time +hmget +hset` and the key: `INFO` tells the run of the server
 * and for how long it has been up. The client is one of ioredis, or any object whose `eval` takes the same arguments. For
 * a client of the package `redis`:
 *
 * ```ts no-run
 * import { RedisLock } from "@holdfast/controller/redis-lock";
 *
 * declare const client: {
 *   eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
 * };
 * const adapter = {
 *   eval: (script: string, keys: number, ...rest: string[]) =>
 *     client.eval(script, { keys: rest.slice(0, keys), arguments: rest.slice(keys) }),
 * };
 * const lock = new RedisLock(adapter, { key: "my-program" });
 * ```
 *
 * For one server, not for replicas that take over from one another. After a fail-over the new primary has
 * been up for long, knows no lease, and gives one at once, while the old holder still works. Its token is
 * above the old one, so the fence of the store refuses the old holder. Nothing else protects.
 *
 * @example
 * ```ts no-run
 * import { RedisLock } from "@holdfast/controller/redis-lock";
 * import { Redis } from "ioredis";
 *
 * const lock = new RedisLock(new Redis("redis://127.0.0.1"), { key: "my-program" });
 * ```
 */
export class RedisLock implements ResourceLock {
  readonly description: string;
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #firstToken: (now: number) => number;

  /** @throws RangeError or TypeError that names the option; TypeError for a client of the package `redis` */
  constructor(client: RedisClient, options: RedisLockOptions) {
    requireMethods("client", client, ["eval"]);
    if ("EVAL" in client)
      throw new TypeError(
        "client must have a method eval(script, keys, ...keysAndValues), as ioredis has, got a client of the package redis: pass an object whose eval calls client.eval(script, { keys, arguments })",
      );
    requireOptions("options", options, "RedisLock", OPTIONS);
    const { key, firstToken = (now) => now } = options;
    requireText("options.key", key);
    requireFunction("options.firstToken", firstToken);
    this.#client = client;
    this.#key = key;
    this.#firstToken = firstToken;
    this.description = `key ${key} of Redis`;
  }

  async get(signal: AbortSignal): Promise<Versioned | undefined> {
    const [version, text, now] = await this.#read(signal);
    if (text !== null) return { record: this.#recordOf(text), version };
    const transitions = this.#firstToken(now) - 1;
    if (transitions < 0) return undefined;
    const free = { holder: "", leaseDuration: 0, acquiredAt: 0, renewedAt: 0, transitions };
    return { record: free, version };
  }

  async create(record: LeaseRecord, signal: AbortSignal): Promise<Versioned> {
    const [version, text, now] = await this.#read(signal);
    if (text !== null || record.transitions < this.#firstToken(now))
      throw new LockConflictError(this.description);
    return await this.update(record, version, signal);
  }

  async update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<Versioned> {
    const next = globalThis.crypto.randomUUID();
    const values = [version, next, JSON.stringify(record), `${record.leaseDuration}`];
    const [outcome, remaining] = (await this.#eval(WRITE, values, signal)) as Outcome;
    if (outcome === "conflict") throw new LockConflictError(this.description);
    if (outcome === "young") throw new ForgottenLeaseError(this.description, remaining);
    return { record, version: next };
  }

  async #eval(script: string, values: readonly string[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const request = (): Promise<unknown> => this.#client.eval(script, 1, this.#key, ...values);
    try {
      return await abortable(request, signal);
    } catch (error) {
      const advice = adviceOn(error);
      if (advice === undefined) throw error;
      throw new Error(`${this.description}: ${advice}`, { cause: error });
    }
  }

  async #read(signal: AbortSignal): Promise<Found> {
    return (await this.#eval(READ, [], signal)) as Found;
  }

  /** To take anything else for a free record could make two holders. */
  #recordOf(text: string): LeaseRecord {
    const record = parsed(text);
    if (!isLeaseRecord(record))
      throw new Error(
        `${this.description} does not contain a lease record; another program may use the key`,
      );
    return record;
  }
}

/** Each version of Redis words it in another way, and again inside of a script. */
const REFUSED = /NOPERM|no permissions|ACL failure|the user executing the script can't/i;

function adviceOn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (REFUSED.test(error.message))
    return "the user of Redis lacks rights: grant it +eval +info +time +hmget +hset and the key";
  return /\bREADONLY\b/.test(error.message)
    ? "the server is a replica and read-only: connect to the primary, with reconnectOnError of ioredis after a fail-over"
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
