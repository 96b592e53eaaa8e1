import type { PassiveClock } from "@holdfast/clock";
import {
  abortSignal,
  callSafely,
  func,
  type Kinds,
  kind,
  parsed,
  read,
  requireArray,
  requireCount,
  requireFinite,
  requireOptions,
  whole,
} from "@holdfast/kit";
import type { Message } from "./message/message.ts";
import { requireStoredName, requireUuid, storedName } from "./message/stored-text.ts";
import type { DeadLetterSelection, OutboxStore } from "./store/outbox-store.ts";

export const LIST_DEAD_LETTERS_OPTIONS: Kinds<ListDeadLettersOptions> = {
  topic: storedName,
  after: parsed("after"),
  limit: kind("pageSize", requirePageSize),
};

/** Options for {@link DeadLetters.list}. */
export interface ListDeadLettersOptions {
  /**
   * Only those of this topic.
   *
   * @defaultValue all
   */
  readonly topic?: string | undefined;

  /**
   * The last message of the previous page.
   *
   * @defaultValue none: the first page
   */
  readonly after?: Pick<Message, "id" | "updatedAt"> | undefined;

  /**
   * The maximum number of messages. Whole, from 1 to 10,000.
   *
   * @defaultValue `100`
   */
  readonly limit?: number | undefined;
}

export const CHANGE_DEAD_LETTERS_OPTIONS: Kinds<ChangeDeadLettersOptions> = {
  portion: kind("pageSize", requirePageSize),
  limit: whole(1),
  onProgress: func,
  signal: abortSignal,
};

/** Options for {@link DeadLetters.replay} and {@link DeadLetters.discard}. */
export interface ChangeDeadLettersOptions {
  /**
   * The number of dead letters that one transaction changes. Whole, from 1 to 10,000.
   *
   * @defaultValue `100`
   */
  readonly portion?: number | undefined;

  /**
   * The maximum number of dead letters to change, those that died first. Whole, at least 1.
   *
   * @defaultValue `Infinity`
   */
  readonly limit?: number | undefined;

  /**
   * Called after each portion with the number of dead letters that were changed until then. An error of it is ignored.
   *
   * @defaultValue none
   */
  readonly onProgress?: ((count: number) => void) | undefined;

  /**
   * Ends it before the next portion: the promise rejects with `signal.reason`, and the portions before stay changed.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Parts of an outbox that {@link DeadLetters} uses. */
interface DeadLettersOptions {
  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "deadLetters" | "replay" | "discard" | "now">;
  /** Says when messages are replayed. */
  readonly clock: PassiveClock;
  /** Called after a replay. */
  readonly onReplay: () => void;
}

const MAX_PAGE = 10_000;

/** Dead letters are read, replayed and discarded by so many: a payload may have 8 MiB. */
export const PORTION = 100;

/** Which dead letters a walk visits. */
export interface DeadLetterWalk {
  readonly topic: string | undefined;
  readonly limit: number;
  readonly portion: number;
  /** Of the second page and later ones, those that died later are not visited. Milliseconds since the epoch. */
  readonly until?: number;
}

/** Pages of dead letters, those that died first come first. */
export async function* pagesOf(
  store: Pick<OutboxStore<never>, "deadLetters">,
  { topic, limit, portion, until = Number.POSITIVE_INFINITY }: DeadLetterWalk,
): AsyncGenerator<readonly Message[]> {
  let after: Message | undefined;
  for (let left = limit; left > 0; ) {
    const size = Math.min(portion, left);
    const page = await store.deadLetters({ topic, after, limit: size });
    const found = after ? page.filter(({ updatedAt }) => updatedAt <= until) : page;
    if (found.length > 0) yield found;
    if (found.length < size) return;
    left -= found.length;
    after = found.at(-1);
  }
}

/**
 * The dead letters of an outbox: messages that failed `maxAttempts` times, or can never succeed. They stay
 * until you replay or discard them.
 *
 * @example
 * ```ts no-run
 * import { Outbox } from "@holdfast/outbox";
 * import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000 });
 * const { deadLetters } = new Outbox({ store: new PostgresStore(new PgDatabase(pool)) });
 * for (const { id, topic, key, lastError } of await deadLetters.list()) console.log(id, topic, key, lastError);
 * await deadLetters.replay({ topic: "orders.paid" });
 * await deadLetters.discard({ ids: ["6f1c7a52-5a0e-4f3e-9d6b-0a4f1d7c2b11"] });
 * ```
 */
export class DeadLetters {
  readonly #options: DeadLettersOptions;

  /**
   * Called by `Outbox`.
   *
   * @internal
   */
  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /**
   * Lists dead letters, those that died first come first. Of a row that is not a valid message, the readable
   * fields are right, and `lastError` names the others.
   *
   * @param options - see {@link ListDeadLettersOptions}
   * @throws RangeError or TypeError that names the option
   */
  async list(options: ListDeadLettersOptions = {}): Promise<readonly Message[]> {
    const given = read("options", options, "list", LIST_DEAD_LETTERS_OPTIONS);
    const { topic, after, limit = 100 } = given;
    if (after === undefined) return await this.#options.store.deadLetters({ topic, after, limit });
    requireOptions("options.after", after);
    const id = requireUuid("options.after.id", after.id);
    const updatedAt = requireFinite("options.after.updatedAt", after.updatedAt);
    return await this.#options.store.deadLetters({ topic, after: { id, updatedAt }, limit });
  }

  /**
   * Makes dead letters pending again, due now, with all their attempts, in portions of a transaction each. Relays send them
   * as fast as their workers allow: make sure that the receiver can take the load. One that dies again meanwhile is not
   * replayed again.
   *
   * @param selection - `{ ids }`, `{ topic }` or `"all"`
   * @param options - see {@link ChangeDeadLettersOptions}
   * @returns how many
   * @throws RangeError or TypeError that names the field
   *
   * @example
   * ```ts no-run
   * import type { OutboxService } from "@holdfast/outbox";
   * import type { Queryable } from "@holdfast/outbox/store";
   *
   * declare const outbox: OutboxService<Queryable>;
   * await outbox.deadLetters.replay("all", {
   *   portion: 1_000,
   *   onProgress: (count) => console.log(count, "replayed"),
   *   signal: AbortSignal.timeout(60_000),
   * });
   * ```
   */
  async replay(
    selection: DeadLetterSelection,
    options: ChangeDeadLettersOptions = {},
  ): Promise<number> {
    const { store, clock, onReplay } = this.#options;
    return await this.#change("replay", selection, options, async (ids) => {
      const count = await store.replay({ ids }, Math.floor(clock.now()));
      if (count > 0) onReplay();
      return count;
    });
  }

  /**
   * Removes dead letters for good, in portions of a transaction each.
   *
   * @param selection - `{ ids }`, `{ topic }` or `"all"`
   * @param options - see {@link ChangeDeadLettersOptions}
   * @returns how many
   * @throws RangeError or TypeError that names the field
   */
  async discard(
    selection: DeadLetterSelection,
    options: ChangeDeadLettersOptions = {},
  ): Promise<number> {
    const { store } = this.#options;
    return await this.#change("discard", selection, options, (ids) => store.discard({ ids }));
  }

  async #change(
    door: string,
    selection: DeadLetterSelection,
    options: ChangeDeadLettersOptions,
    change: (ids: readonly string[]) => Promise<number>,
  ): Promise<number> {
    const chosen = requireSelection(selection);
    const given = read("options", options, door, CHANGE_DEAD_LETTERS_OPTIONS);
    const { portion = PORTION, limit = Number.POSITIVE_INFINITY, onProgress, signal } = given;
    signal?.throwIfAborted();
    let count = 0;
    for await (const ids of this.#idsOf(chosen, portion, limit)) {
      signal?.throwIfAborted();
      count += await change(ids);
      if (onProgress !== undefined) callSafely(() => onProgress(count));
    }
    return count;
  }

  async *#idsOf(
    selection: DeadLetterSelection,
    portion: number,
    limit: number,
  ): AsyncGenerator<readonly string[]> {
    if (selection !== "all" && "ids" in selection) {
      const ids = selection.ids.slice(0, limit);
      for (let at = 0; at < ids.length; at += portion) yield ids.slice(at, at + portion);
      return;
    }
    const { store, clock } = this.#options;
    const topic = selection === "all" ? undefined : selection.topic;
    const until = Math.max(clock.now(), (await store.now?.()) ?? 0);
    for await (const page of pagesOf(store, { topic, limit, portion, until }))
      yield page.map(({ id }) => id);
  }
}

function requirePageSize(path: string, size: number): void {
  requireCount(path, size);
  if (size > MAX_PAGE) throw new RangeError(`${path} must be at most ${MAX_PAGE}, got ${size}`);
}

function requireSelection(selection: DeadLetterSelection): DeadLetterSelection {
  if (selection === "all") return selection;
  if (typeof selection === "object" && selection !== null) {
    if ("ids" in selection !== "topic" in selection) return requireOne(selection);
  }
  throw new TypeError('selection must be { ids }, { topic } or "all"');
}

function requireOne(
  selection: { readonly ids: readonly string[] } | { readonly topic: string },
): DeadLetterSelection {
  if ("topic" in selection) {
    const { topic } = selection;
    requireStoredName("selection.topic", topic);
    return { topic };
  }
  requireArray("selection.ids", selection.ids);
  return { ids: selection.ids.map((id, i) => requireUuid(`selection.ids[${i}]`, id)) };
}
