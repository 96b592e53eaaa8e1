import { hostname } from "node:os";
import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, Manager, type ResourceLock, type RunOptions } from "@holdfast/controller";
import {
  above,
  between,
  callSafely,
  type Kinds,
  methods,
  requireSignal,
  uuidFrom,
} from "@holdfast/kit";
import { Recovery } from "../maintenance/recovery.ts";
import { Retention } from "../maintenance/retention.ts";
import type { MessageSchedule } from "../message/message.ts";
import { MAX_DELAY, MESSAGE_SCHEDULE } from "../message/schedule.ts";
import { requireStoredName, storedName } from "../message/stored-text.ts";
import { Outbox } from "../outbox.ts";
import type { Publisher } from "../publisher/publisher.ts";
import { Relay, type RelayStatus } from "../relay/relay.ts";
import { RELAY_OPTIONS, type RelayOptions } from "../relay/relay-options.ts";
import type { Backlog, OutboxStore } from "../store/outbox-store.ts";

/** Options for an outbox with everything in it. Durations are in milliseconds. */
export interface OutboxServiceOptions
  extends Omit<RelayOptions, "name" | "store" | "publisher">,
    MessageSchedule {
  /** Name of the service: the same in all its processes. Not empty, at most 255 bytes of UTF-8. */
  readonly name: string;

  /**
   * Name of the process. No other one has it at the same time. Not empty, at most 255 bytes of UTF-8.
   *
   * @defaultValue the name of the host and eight random digits, drawn by `random` if that is given
   */
  readonly identity?: string | undefined;

  /**
   * Sends the messages. The outbox does not dispose of it.
   *
   * @defaultValue none: this process saves messages for others to send, and `run` rejects
   */
  readonly publisher?: Publisher | undefined;

  /**
   * Decides which process takes over the messages of processes that died, and removes delivered ones: a `RedisLock`, for
   * example. The same in all processes.
   *
   * @defaultValue a row beside the messages, in the table `holdfast_lock`, named like the tables: `outbox` for the prefix
   * `outbox_`
   */
  readonly lock?: ResourceLock | undefined;

  /**
   * How long a delivered message is kept, from its delivery. Above 0; `Infinity` keeps all. Dead letters stay until they
   * are replayed or discarded.
   *
   * @defaultValue `604_800_000`, a week
   */
  readonly keepDelivered?: number | undefined;

  /**
   * How long `once` remembers a key, in milliseconds. From 1 to a hundred years. Keep it longer than a message may live.
   *
   * @defaultValue `2_592_000_000`, 30 days
   */
  readonly keepHandled?: number | undefined;
}

const { store: _store, publisher, ...RELAY } = RELAY_OPTIONS;

/** The options of every outbox with everything in it. */
export const OUTBOX_SERVICE_OPTIONS: Kinds<OutboxServiceOptions> = {
  ...RELAY,
  ...MESSAGE_SCHEDULE,
  identity: storedName,
  lock: methods("get", "create", "update"),
  publisher: { ...publisher, isRequired: false },
  keepDelivered: above(0),
  keepHandled: between(1, MAX_DELAY),
};

/** The place of the messages. */
export interface Backend<Tx extends object> {
  readonly store: OutboxStore<Tx>;
  /** The lock of this place, if the options name no other. */
  readonly lock: ResourceLock & { createTable?(): Promise<void> };
  readonly transaction: <Value>(work: (tx: Tx) => Promise<Value>) => Promise<Value>;
  /** Brings the tables up to date; resolves with the numbers of the applied migrations. */
  readonly migrate: () => Promise<readonly number[]>;
}

/**
 * An outbox with everything in it: it saves messages in your transactions, sends them, takes over those of processes that
 * died, and removes old ones. `PostgresOutbox`, `MySqlOutbox`, `PGliteOutbox` and, for tests, `MemoryOutbox` are made from
 * it.
 *
 * It is a `Runnable`: add it to a `Manager`, or call {@link OutboxService.run}. It runs once.
 */
export abstract class OutboxService<Tx extends object> extends Outbox<Tx> {
  /** Its name. */
  readonly name: string;
  /** Time that a stop may take, in milliseconds: 41 s by default. A `Manager` waits for it, if it has the time. */
  readonly stopTimeout: number;
  /** Where the messages are. */
  readonly store: OutboxStore<Tx>;
  readonly #migrate: () => Promise<readonly number[]>;
  readonly #relay: Relay | undefined;
  readonly #manager: Manager;
  readonly #clock: Clock;

  /**
   * @param options - read already
   * @internal
   */
  constructor(options: OutboxServiceOptions, backend: Backend<Tx>) {
    const {
      name,
      identity = newIdentity(options),
      publisher,
      lock,
      keepDelivered,
      keepHandled,
      ...rest
    } = options;
    const { maxAttempts, maxAge, backoff, ...relaying } = rest;
    const { storeTimeout, jitter, onEvent, logger, clock, random } = relaying;
    const { store, transaction } = backend;
    const relay = publisher && new Relay({ ...relaying, name: identity, store, publisher });
    const onCommitted = relay && ((): void => relay.wake());
    super({ store, transaction, onCommitted, clock, keepHandled, maxAttempts, maxAge, backoff });
    this.name = name;
    this.store = store;
    this.stopTimeout = (relay?.stopTimeout ?? 0) + 1_000;
    this.#relay = relay;
    this.#clock = clock ?? realClock;
    this.#manager = new Manager({ clock, logger, stopTimeout: this.stopTimeout });
    if (relay !== undefined) this.#manager.add(relay);
    const common = { storeTimeout, jitter, onEvent, logger, clock, random };
    const task = { ...common, name: identity, store, lock: lock ?? backend.lock };
    this.#manager.add(new Recovery(task));
    this.#manager.add(new Retention({ ...task, olderThan: keepDelivered }));
    this.#migrate = async () => {
      const applied = await backend.migrate();
      if (lock === undefined) await backend.lock.createTable?.();
      return applied;
    };
  }

  /**
   * Brings the tables up to date, and creates those that are missing. Processes that start together wait for one another.
   *
   * @returns the numbers of the migrations that were applied
   */
  async migrate(): Promise<readonly number[]> {
    return await this.#migrate();
  }

  /**
   * Sends messages until the signal aborts. Then it claims nothing more, gives messages back whose attempts have not
   * begun, and finishes attempts within `grace`.
   *
   * @param signal - ends it. The promise resolves then, and no timer, listener or claim is left
   * @param options - see `RunOptions` of `@holdfast/controller`
   * @returns a promise that rejects with a TypeError without a publisher, and with an Error if it has run before
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    requireSignal("signal", signal);
    if (this.#relay === undefined)
      throw new TypeError(
        "options.publisher is missing: pass it to send messages; a process that only saves them needs no run()",
      );
    if (this.#relay.status().state !== "new")
      throw new Error(`outbox ${this.name} has already run`);
    await this.#manager.run(signal, options);
  }

  /** The state of this process, as plain data. */
  status(): RelayStatus {
    const none = { attempts: 0, waiting: 0, unwritten: 0, held: [] };
    return this.#relay?.status() ?? { state: "new", ...none };
  }

  /**
   * Holds a topic in all processes, until {@link OutboxService.resume}: its messages are saved, and not sent. They spend no
   * attempts; their `maxAge` goes on. Attempts in flight end. This process sees it at once, others within their
   * `pollInterval`.
   *
   * @param topic - as in `save`
   * @returns false if it is paused already
   * @throws RangeError or TypeError that names the argument
   */
  async pause(topic: string): Promise<boolean> {
    requireStoredName("topic", topic);
    return await this.#hold(this.store.pause?.(topic, this.#clock.now()));
  }

  /**
   * Ends a pause. The messages that are due are sent as fast as the workers allow.
   *
   * @param topic - as in `save`
   * @returns false if it is not paused
   * @throws RangeError or TypeError that names the argument
   */
  async resume(topic: string): Promise<boolean> {
    requireStoredName("topic", topic);
    return await this.#hold(this.store.resume?.(topic));
  }

  /**
   * The topics that are paused, in the order of their names.
   *
   * @param signal - ends the request
   */
  async pausedTopics(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.store.pausedTopics?.(signal)) ?? [];
  }

  async #hold(changing: Promise<boolean> | undefined): Promise<boolean> {
    const isChanged = (await changing) ?? false;
    this.#relay?.lookForPaused();
    return isChanged;
  }

  /**
   * The number of messages in the database that are not delivered. It counts up to 10,000 of each status.
   *
   * @param signal - ends the request
   */
  async backlog(signal?: AbortSignal): Promise<Backlog> {
    return await this.store.backlog(signal);
  }
}

function newIdentity({ random }: Pick<OutboxServiceOptions, "random">): string {
  return `${hostname()}-${uuidFrom(random).slice(0, 8)}`;
}

/** The name of the lock beside the tables of a prefix: `outbox` for `outbox_`. */
export function lockNameOf(prefix: string = "outbox_"): string {
  return prefix.replace(/_$/, "") || prefix;
}

/** Logs errors of connections that nobody uses, which the pool replaces. */
export function onPoolError({
  logger = defaultLogger,
}: Pick<OutboxServiceOptions, "logger">): (error: Error) => void {
  return (err) => callSafely(() => logger.warn({ err }, "connection of the pool broke"));
}
