import type { MessageStatus } from "./message-status.ts";

/** What a caller says of a message when it saves it. Durations are in milliseconds. */
export interface NewMessage {
  /** A UUID; the consumer knows a message that comes twice by it. Made if not given. */
  readonly id?: string | undefined;
  /** Who caused it. */
  readonly creator: string;
  /** What it is about: the part of the business, and the key of the thing there. */
  readonly businessModule: string;
  readonly businessKey: string;
  readonly route: Route;
  /** What is sent: anything that JSON can hold. */
  readonly content: unknown;
  /** How often a failed attempt is repeated. Whole, at least 0; 5 if not given. */
  readonly maxRetryTimes?: number | undefined;
  /** The first wait, in milliseconds. At least 0; 10,000 if not given. */
  readonly initBackoff?: number | undefined;
  /** What each wait is multiplied by. At least 1; 2 if not given. */
  readonly backoffFactor?: number | undefined;
}

/** Where a message goes, in words of a broker; a webhook uses the routing key as its path. */
export interface Route {
  readonly exchange: string;
  readonly queue: string;
  readonly routingKey: string;
}

/** A message as it is stored. Instants are milliseconds since the epoch. */
export interface Message {
  readonly id: string;
  readonly createTime: number;
  readonly editTime: number;
  readonly creator: string;
  readonly businessModule: string;
  readonly businessKey: string;
  readonly route: Route;
  readonly content: unknown;
  readonly status: MessageStatus;
  /** How many attempts have failed. */
  readonly currentRetryTimes: number;
  readonly maxRetryTimes: number;
  /** When it is due. Undefined once it is `success` or `dead`. */
  readonly nextScheduleTime: number | undefined;
  readonly initBackoff: number;
  readonly backoffFactor: number;
  /** What the last failed attempt said. */
  readonly lastError: string | undefined;
}
