import { abortable } from "@holdfast/clock";
import {
  findByCode,
  func,
  type Kinds,
  read,
  required,
  requireMethods,
  text,
  uuidFrom,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { isLeaseRecord, type LeaseRecord } from "../election/lease-record.ts";
import { LockConflictError } from "../election/lock-conflict-error.ts";
import type { ResourceLock, Versioned } from "../election/resource-lock.ts";

// A record is valid in the run of the server that wrote it. After a restart a server may lack the last writes,
// so older records count as absent.
const CURRENT = `
  local server = redis.call('INFO', 'server')
  local run = string.match(server, 'run_id:(%x+)')
  local found = redis.call('HMGET', KEYS[1], 'run', 'version', 'record')
  local version, record = 'none:' .. run, false
  if found[1] == run then version, record = found[2], found[3] end
`;

/** KEYS: the lock. Returns the version, the record if there is one, and the server's time in ms. */
const READ: string = `${CURRENT}
  local time = redis.call('TIME')
  return { version, record, time[1] * 1000 + math.floor(time[2] / 1000) }
`;

/**
 * KEYS: the lock. ARGV: the version that is replaced, the new one, the record, and how long the server
 * must have been up for the first record of its run, in ms. Returns the outcome, and the time
 * until the server is old enough, in ms.
 *
 * The server counts its life in whole seconds of its wall clock, of which it has not lived the last.
 * A client that lost the reply may send the same again: it finds its own version.
 */
const WRITE: string = `${CURRENT}
  if version == ARGV[2] then return { 'written', 0 } end
  if version ~= ARGV[1] then return { 'conflict', 0 } end
  local up = string.match(server, 'uptime_in_seconds:(%d+)') * 1000 - 1000
  if not record and up < tonumber(ARGV[4]) then return { 'young', ARGV[4] - up } end
  redis.call('HSET', KEYS[1], 'run', run, 'version', ARGV[2], 'record', ARGV[3])
  return { 'written', 0 }
`;

export const REDIS_LOCK_OPTIONS: Kinds<RedisLockOptions> = {
  key: required(text),
  firstToken: func,
  random: func,
};

/** The response of the script for reading: the version, the record if there is one, the server's time. */
type Found = readonly [version: string, record: string | null, now: number];

/** The response of the script for writing: the outcome, and for how long the server is too young. */
type Written = readonly [outcome: "written" | "conflict" | "young", remaining: number];

/** A client of Redis, such as one of ioredis. */
export interface RedisClient {
  /** Runs a script with some keys and arguments. */
  eval(script: string, keys: number, ...keysAndValues: string[]): Promise<unknown>;
}

/** Options for {@link RedisLock}. */
export interface RedisLockOptions {
  /** The key, not empty. No other program may write or delete it, and Redis may not evict it. */
  readonly key: string;

  /**
   * The first token after Redis has forgotten everything, from its time in milliseconds since the
   * epoch. Must exceed every earlier token. A value below 1 means there was none.
   *
   * @defaultValue that time: tokens stay above those of before as long as fewer than a thousand terms
   * begin in a second, and the clock of Redis is not set back by more than it was away
   */
  readonly firstToken?: ((now: number) => number) | undefined;

  /**
   * Source of the ids of versions. Give it in a test, each process its own: two processes with the same ids take each
   * other's writes for their own.
   *
   * @defaultValue ids of the platform's cryptographic source
   */
  readonly random?: Random | undefined;
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
 * Give the client a `socketTimeout`. Without it a connection that the network has forgotten, on which calls only time out, stays in
 * use for minutes, and the lease is lost.
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
 * const client = new Redis("redis://127.0.0.1", { commandTimeout: 3_000, socketTimeout: 5_000 });
 * const lock = new RedisLock(client, { key: "my-program" });
 * ```
 */
export class RedisLock implements ResourceLock {
  readonly description: string;
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #firstToken: (now: number) => number;
  readonly #random: Random | undefined;

  /** @throws RangeError or TypeError that names the option; TypeError for a client of the package `redis` */
  constructor(client: RedisClient, options: RedisLockOptions) {
    requireMethods("client", client, ["eval"]);
    if ("EVAL" in client)
      throw new TypeError(
        "client must have a method eval(script, keys, ...keysAndValues), as ioredis has, got a client of the package redis: pass an object whose eval calls client.eval(script, { keys, arguments })",
      );
    const given = read("options", options, "RedisLock", REDIS_LOCK_OPTIONS);
    const { key, firstToken = (now) => now, random } = given;
    this.#client = client;
    this.#key = key;
    this.#firstToken = firstToken;
    this.#random = random;
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
    const next = uuidFrom(this.#random);
    const values = [version, next, JSON.stringify(record), `${record.leaseDuration}`];
    const [outcome, remaining] = (await this.#eval(WRITE, values, signal)) as Written;
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

const CODE = "ERR_CONTROLLER_FORGOTTEN_LEASE";

/** A `RedisLock` grants no lease, because its server may have lost one that still lasts. */
export class ForgottenLeaseError extends Error {
  override readonly name = "ForgottenLeaseError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_FORGOTTEN_LEASE" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CONTROLLER_FORGOTTEN_LEASE" = CODE;
  /** Time until the lock grants a lease, in milliseconds. */
  readonly remaining: number;

  /** @param lock - the description of the lock */
  constructor(lock: string, remaining: number) {
    super(`${lock} may have lost a lease when Redis restarted; it grants none for ${remaining} ms`);
    this.remaining = remaining;
  }
}

/**
 * Whether an error is a {@link ForgottenLeaseError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isForgottenLeaseError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
