import type { MessageStatus } from "./message-status.ts";

/** Where a message goes, in words of a broker; a webhook uses the routing key as its path. */
interface Route {
  /** May be empty, which is the default exchange: it takes the routing key for the name of a queue. */
  readonly exchange: string;
  /** `"direct"` if not given; each broker has its own. */
  readonly exchangeType?: string | undefined;
  readonly queue: string;
  readonly routingKey: string;
}

/** A route with nothing left open. */
export interface ResolvedRoute extends Route {
  readonly exchangeType: string;
}

/** What a caller says of a message when it saves it. Durations are in milliseconds. */
export interface NewMessage {
  /** A UUID; the consumer knows a message that comes twice by it. Made if not given. */
  readonly id?: string | undefined;
  /** Who caused it. */
  readonly creator: string;
  /** Which part of the business it is about. */
  readonly businessModule: string;
  /** The key of the thing there. */
  readonly businessKey: string;
  readonly route: Route;
  /** What is sent: anything that JSON can hold. */
  readonly content: unknown;
  /** How many attempts may fail: with the last of them it is dead. Whole, from 1; 5 if not given. */
  readonly maxRetryTimes?: number | undefined;
  /** The first wait, in milliseconds. At least 0; 10,000 if not given. */
  readonly initBackoff?: number | undefined;
  /** What each wait is multiplied by. At least 1; 2 if not given. */
  readonly backoffFactor?: number | undefined;
}

/** A message as it is stored. Instants are whole milliseconds since the epoch. */
export interface Message {
  readonly id: string;
  readonly createTime: number;
  readonly editTime: number;
  readonly creator: string;
  /** Who changed it last: its creator, a relay, or who replayed it. */
  readonly editor: string;
  /** Taken out of use by a person: never sent, never counted. */
  readonly deleted: boolean;
  readonly businessModule: string;
  readonly businessKey: string;
  readonly route: ResolvedRoute;
  readonly content: unknown;
  readonly status: MessageStatus;
  /** How many attempts have failed. At most `maxRetryTimes`. */
  readonly currentRetryTimes: number;
  readonly maxRetryTimes: number;
  /** When it is due. Undefined once it is `success` or `dead`. */
  readonly nextScheduleTime: number | undefined;
  readonly initBackoff: number;
  readonly backoffFactor: number;
  /** What the last failed attempt said. */
  readonly lastError: string | undefined;
}
