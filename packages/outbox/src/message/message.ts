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

/** A message to save. Durations are in milliseconds. */
export interface NewMessage {
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

  /**
   * The total number of attempts. Whole, from 1 to 1,000,000; 1 means that a failure makes it a dead letter.
   *
   * @defaultValue `5`
   */
  readonly maxAttempts?: number | undefined;

  /**
   * The delay after the first failed attempt, in milliseconds. At least 0, at most a hundred years.
   *
   * @defaultValue `10_000`
   */
  readonly initialDelay?: number | undefined;

  /**
   * The factor from one delay to the next. Finite, at least 1.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;
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

  /** The delay after the first failed attempt, in milliseconds. */
  readonly initialDelay: number;

  /** The factor from one delay to the next. */
  readonly factor: number;

  /** The error of the last failed attempt; undefined if there was none. */
  readonly lastError: string | undefined;
}
