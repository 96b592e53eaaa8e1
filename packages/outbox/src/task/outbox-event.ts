import type { Logger } from "@holdfast/controller";
import type { BrokenMessage, Claim } from "../store/claim.ts";
import type { Failure } from "../store/outbox-store.ts";

/**
 * An event of a relay, a compensation or a retention.
 *
 * | Type | Meaning |
 * | --- | --- |
 * | `claimed` | a relay claimed `count` messages; the request took `duration` ms |
 * | `published` | the receiver confirmed the message; the outcome is stored |
 * | `failed`, `dead` | an attempt failed; the outcome is stored. `failure` holds the time of the next attempt |
 * | `orphan` | the compensation ended the claim of a dead relay; the attempt counts as lost |
 * | `released` | the claim was given back without an attempt: it was about to expire, or the relay stops |
 * | `lost` | the claim had ended: another relay has the message, or the reply to an earlier write was lost |
 * | `unwritten` | the outcome could not be stored before the claim expired; the message is sent again |
 * | `broken` | a row is not a valid message; it is dead |
 * | `removed` | a retention round removed `count` messages |
 * | `error` | a request to the store failed; it is repeated |
 */
export type OutboxEvent =
  | { readonly type: "claimed"; readonly count: number; readonly duration: number }
  | { readonly type: "published" | "released" | "lost"; readonly claim: Claim }
  | {
      readonly type: "failed" | "dead" | "orphan";
      readonly claim: Claim;
      readonly failure: Failure;
    }
  | { readonly type: "unwritten"; readonly claim: Claim; readonly error: unknown }
  | { readonly type: "broken"; readonly broken: BrokenMessage }
  | { readonly type: "removed"; readonly count: number }
  | { readonly type: "error"; readonly error: unknown };

/** Receivers of events. */
interface EventSink {
  readonly logger: Logger;
  readonly onEvent: (event: OutboxEvent) => void;
}

/**
 * Logs an event and calls `onEvent`, whose errors are logged too. It never throws: a throw would make the
 * caller repeat work that is done.
 */
export function report(event: OutboxEvent, { logger, onEvent }: EventSink): void {
  quietly(() => log(event, logger));
  try {
    onEvent(event);
  } catch (error) {
    quietly(() => logger.error({ err: error }, "hook threw; ignored"));
  }
}

function quietly(write: () => void): void {
  try {
    write();
  } catch {
    // A logger that throws: there is nowhere left to say it.
  }
}

function log(event: OutboxEvent, logger: Logger): void {
  switch (event.type) {
    case "published":
    case "released":
      logger.debug(factsOf(event.claim), `message ${event.type}`);
      break;
    case "failed":
    case "orphan":
      logger.warn({ ...factsOf(event.claim), ...event.failure }, `message ${event.type}`);
      break;
    case "dead":
      logger.error({ ...factsOf(event.claim), ...event.failure }, "message dead");
      break;
    case "lost":
      logger.warn(factsOf(event.claim), "outcome ignored; the claim has ended");
      break;
    case "unwritten":
      logger.error(
        { ...factsOf(event.claim), err: event.error },
        "outcome not stored before the claim expired; message will be sent again",
      );
      break;
    case "broken":
      logger.error(event.broken, "row is not a valid message; marked dead");
      break;
    case "removed":
      logger.info({ count: event.count }, "confirmed messages removed");
      break;
    case "claimed":
      break;
    case "error":
      logger.error({ err: event.error }, "request to the store failed; repeating it");
      break;
  }
}

function factsOf({ message, number, worker }: Claim): object {
  return { id: message.id, queue: message.route.queue, worker, claim: number };
}
