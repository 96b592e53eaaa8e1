/**
 * The state of a message.
 *
 * | Status | Meaning |
 * | --- | --- |
 * | `pending` | saved with the business change; no attempt has failed yet |
 * | `failed` | the last attempt failed; `nextScheduleTime` is the time of the next one |
 * | `success` | the receiver has confirmed it |
 * | `dead` | it failed more often than it may, or can never succeed; only a replay brings it back |
 */
export type MessageStatus = "pending" | "failed" | "success" | "dead";

/** Where a message goes, in the words of a broker; a webhook uses the routing key as its path. */
export interface Route {
  /** May be empty: the default exchange, which takes the routing key for the name of a queue. */
  readonly exchange: string;

  /** @defaultValue `"direct"` */
  readonly exchangeType?: string | undefined;

  /** The queue the consumer reads; for logs and metrics. */
  readonly queue: string;

  /** The key that the exchange routes by. */
  readonly routingKey: string;
}

/** A route with its defaults. */
export interface ResolvedRoute extends Route {
  readonly exchangeType: string;
}

/**
 * A message to save. Every name and route field is well-formed Unicode without NUL and at most
 * 255 bytes of UTF-8. Durations are in milliseconds.
 */
export interface NewMessage {
  /**
   * A UUID, by which the consumer recognizes a message that comes twice.
   *
   * @defaultValue a random one
   */
  readonly id?: string | undefined;

  /** The user or program that caused it. Not empty. */
  readonly creator: string;

  /** The part of the business it is about, `"orders"` for example. Not empty. */
  readonly businessModule: string;

  /** The key of the thing there. Not empty. Messages of one key can be kept in order. */
  readonly businessKey: string;

  /** Where it goes. */
  readonly route: Route;

  /** The body: any JSON value, at most 8 MiB as JSON. */
  readonly content: unknown;

  /**
   * The number of failed attempts that makes it dead. Whole, from 1 to 1,000,000.
   *
   * @defaultValue `5`
   */
  readonly maxRetryTimes?: number | undefined;

  /**
   * The first wait, in milliseconds. At least 0.
   *
   * @defaultValue `10_000`
   */
  readonly initBackoff?: number | undefined;

  /**
   * The factor from one wait to the next. At least 1.
   *
   * @defaultValue `2`
   */
  readonly backoffFactor?: number | undefined;
}

/** A message as it is stored. Instants are whole milliseconds since the epoch. */
export interface Message {
  /** A UUID in lower case. */
  readonly id: string;

  /** When it was saved. */
  readonly createTime: number;

  /** When its status changed last. */
  readonly editTime: number;

  /** The user or program that caused it. */
  readonly creator: string;

  /** The author of the last change: its creator, a relay, a fence, or the editor of a replay. */
  readonly editor: string;

  /** Whether a person has taken it out of use: never sent, never counted. */
  readonly deleted: boolean;

  /** The part of the business it is about. */
  readonly businessModule: string;

  /** The key of the thing there. */
  readonly businessKey: string;

  /** Where it goes. */
  readonly route: ResolvedRoute;

  /** The body. */
  readonly content: unknown;

  /** Its state. */
  readonly status: MessageStatus;

  /** The number of failed attempts; at most `maxRetryTimes`. */
  readonly currentRetryTimes: number;

  /** The number of attempts whose outcome was never written. The fourth makes the message dead. */
  readonly lostAttempts: number;

  /** The number of failed attempts that makes it dead. */
  readonly maxRetryTimes: number;

  /** When it is due; undefined once it is `success` or `dead`. */
  readonly nextScheduleTime: number | undefined;

  /** The first wait, in milliseconds. */
  readonly initBackoff: number;

  /** The factor from one wait to the next. */
  readonly backoffFactor: number;

  /** The error of the last failed attempt; undefined if there was none. */
  readonly lastError: string | undefined;
}
