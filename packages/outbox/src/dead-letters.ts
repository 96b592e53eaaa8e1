import type { PassiveClock } from "@holdfast/clock";
import {
  type Kinds,
  kind,
  parsed,
  read,
  requireArray,
  requireCount,
  requireFinite,
  requireOptions,
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

/** Parts of an outbox that {@link DeadLetters} uses. */
interface DeadLettersOptions {
  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "deadLetters" | "replay" | "discard">;
  /** Says when messages are replayed. */
  readonly clock: PassiveClock;
  /** Called after a replay. */
  readonly onReplay: () => void;
}

const MAX_PAGE = 10_000;

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
   * Makes dead letters pending again, due now, with all their attempts. Relays send them as fast as their
   * workers allow: make sure that the receiver can take the load.
   *
   * @param selection - `{ ids }`, `{ topic }` or `"all"`
   * @returns how many
   * @throws RangeError or TypeError that names the field
   */
  async replay(selection: DeadLetterSelection): Promise<number> {
    const { store, clock, onReplay } = this.#options;
    const count = await store.replay(requireSelection(selection), Math.floor(clock.now()));
    if (count > 0) onReplay();
    return count;
  }

  /**
   * Removes dead letters for good.
   *
   * @param selection - `{ ids }`, `{ topic }` or `"all"`
   * @returns how many
   * @throws RangeError or TypeError that names the field
   */
  async discard(selection: DeadLetterSelection): Promise<number> {
    return await this.#options.store.discard(requireSelection(selection));
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
