/**
 * The state of a message.
 *
 * | Status | Meaning |
 * | --- | --- |
 * | `pending` | saved with the business change; no attempt has failed yet |
 * | `retrying` | the last attempt failed; the next one is made at `dueAt` |
 * | `delivered` | the receiver has confirmed it |
 * | `dead` | a dead letter: it failed `maxAttempts` times, or can never succeed |
 */
export type MessageStatus = "pending" | "retrying" | "delivered" | "dead";

/** Names and values sent with a message. */
export type MessageHeaders = Readonly<Record<string, string>>;

/** The delays between the attempts of a message, in the words of `BackoffOptions` of `@holdfast/wait`. */
export interface MessageBackoff {
  /**
   * The delay after the first failed attempt, in milliseconds. At least 0, at most a hundred years.
   *
   * @defaultValue `10_000`
   */
  readonly duration?: number | undefined;

  /**
   * The factor from one delay to the next. Finite, at least 1.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * The longest delay, in milliseconds. At least `duration`; `Infinity` stands for a hundred years.
   *
   * @defaultValue 5 h, or `duration` if that is longer
   */
  readonly cap?: number | undefined;
}

/** How often and for how long a message is attempted. */
export interface MessageSchedule {
  /**
   * The total number of attempts. Whole, from 1 to 1,000,000; 1 means that a failure makes it a dead letter.
   *
   * @defaultValue `25`, over about three days
   */
  readonly maxAttempts?: number | undefined;

  /**
   * The age in milliseconds from which on no attempt begins: then the message is a dead letter. It is the time since the
   * message was first due. Above 0; a hundred years or more stand for `Infinity`. A replayed message has no such limit.
   *
   * @defaultValue `Infinity`
   */
  readonly maxAge?: number | undefined;

  /**
   * The delays between attempts. The relay adds its `jitter`.
   *
   * @defaultValue 10 s, 20 s, 40 s and so on, up to 5 h
   */
  readonly backoff?: MessageBackoff | undefined;
}

/** A key that one message may have for some time. */
export interface MessageUnique {
  /** Any name; `"reminder/4711"` for example. The outbox has one set of them, for all topics. The same limits as `topic`. */
  readonly key: string;

  /**
   * How long no other message is saved with this key, from the save, in milliseconds. Above 0; a hundred years or more
   * stand for `Infinity`. It makes no difference whether the message was delivered, removed or is dead.
   */
  readonly within: number;
}

/** A message to save. Durations are in milliseconds. */
export interface NewMessage extends MessageSchedule {
  /**
   * A UUID. Consumers recognize a duplicate by it.
   *
   * @defaultValue a random one
   */
  readonly id?: string | undefined;

  /**
   * The kind of message: `"orders.paid"` for example. Publishers route by it. Not empty, well-formed Unicode
   * without NUL, at most 255 bytes of UTF-8.
   */
  readonly topic: string;

  /**
   * The object that the message is about: `"order/4711"` for example. Messages of one key can be kept in
   * order. The same limits as `topic`.
   */
  readonly key: string;

  /**
   * The time from the save to the first attempt, in milliseconds. At least 0, at most a hundred years. In place of `dueAt`.
   *
   * @defaultValue `0`
   */
  readonly delay?: number | undefined;

  /**
   * The instant of the first attempt, in milliseconds since the epoch. From 0 to the end of the year 9999; one that is over stands for now. In
   * place of `delay`.
   *
   * @defaultValue the instant of the save
   */
  readonly dueAt?: number | undefined;

  /**
   * Of messages that are due, those with the smaller number go first. Whole, from -2 to 2.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;

  /**
   * Saves the message only if no other one has been saved with this key for some time.
   *
   * @defaultValue none: it is always saved
   */
  readonly unique?: MessageUnique | undefined;

  /**
   * Sent with the message: a trace id for example. Names as HTTP allows them, values of Latin-1 without control
   * characters, at most 8 KiB as JSON.
   *
   * @defaultValue none
   */
  readonly headers?: MessageHeaders | undefined;

  /**
   * The body: any JSON value, at most 8 MiB as JSON. A value that JSON would change into null or `{}` is refused, as NaN,
   * a Map, an Error, a Promise, or undefined in an array. `-0` is sent as `0`, as JSON has it.
   */
  readonly payload: unknown;
}

/** A message as it is stored. Instants are whole milliseconds since the epoch. */
export interface Message {
  /** A UUID in lower case. */
  readonly id: string;

  /** The kind of message. */
  readonly topic: string;

  /** The object that it is about. */
  readonly key: string;

  /** Sent with it. */
  readonly headers: MessageHeaders;

  /** The body. */
  readonly payload: unknown;

  /** Of messages that are due, those with the smaller number go first. From -2 to 2. */
  readonly priority: number;

  /** Its state. */
  readonly status: MessageStatus;

  /** The instant it was saved. */
  readonly createdAt: number;

  /** The instant of its last change of status. */
  readonly updatedAt: number;

  /** The instant of its next attempt; undefined once it is `delivered` or `dead`. */
  readonly dueAt: number | undefined;

  /** The number of failed attempts; at most `maxAttempts`. */
  readonly failedAttempts: number;

  /** The number of claims that expired without an outcome. The fourth makes it a dead letter. */
  readonly expiredClaims: number;

  /** The total number of attempts. */
  readonly maxAttempts: number;

  /** No attempt begins from this instant on; undefined if there is no such limit. */
  readonly expiresAt: number | undefined;

  /** The delays between its attempts. */
  readonly backoff: Required<{ readonly [Name in keyof MessageBackoff]: number }>;

  /** The error of the last failed attempt; undefined if there was none. */
  readonly lastError: string | undefined;
}

/** What `save` has done with a message. */
export interface SavedMessage extends Message {
  /**
   * False if a message with this `id` or this `unique.key` was there. Then nothing was saved: `id` is that of the one that
   * was there, and the other fields are those of this call.
   */
  readonly isNew: boolean;
}
