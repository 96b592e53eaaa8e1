import type { Logger } from "@holdfast/controller";
import type { BrokenMessage, Claim } from "../store/claim.ts";
import type { Failure } from "../store/outbox-store.ts";

/**
 * What a relay, a compensation or a retention did or met.
 *
 * | Type | Meaning |
 * | --- | --- |
 * | `claimed` | a request for messages was answered: how many were claimed, and how long it took |
 * | `published` | the receiver has confirmed the message, and that is written |
 * | `failed`, `dead` | an attempt failed, and that is written; `failure` says when the next one is |
 * | `orphan` | the claim of a relay that died was ended; the attempt counts as lost |
 * | `released` | the claim was given back without an attempt: its time was nearly over, or the relay stops |
 * | `lost` | the claim had ended: another relay has the message, or an earlier request wrote the outcome and its answer was lost |
 * | `unwritten` | the outcome could not be written while the claim lasted: the message is sent again |
 * | `broken` | a row is no message; it is dead |
 * | `removed` | a retention round removed so many messages |
 * | `error` | the store did not answer; it is asked again |
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

/** Where events go. */
interface EventSink {
  readonly logger: Logger;
  readonly onEvent: (event: OutboxEvent) => void;
}

/**
 * Logs an event and tells whoever listens, whose errors are logged too. It never throws: what has
 * happened has happened, and would be done again.
 */
export function report(event: OutboxEvent, { logger, onEvent }: EventSink): void {
  quietly(() => log(event, logger));
  try {
    onEvent(event);
  } catch (error) {
    quietly(() => logger.error({ err: error }, "onEvent threw"));
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
      logger.warn(factsOf(event.claim), "the claim of a message was over");
      break;
    case "unwritten":
      logger.error({ ...factsOf(event.claim), err: event.error }, "outcome could not be written");
      break;
    case "broken":
      logger.error(event.broken, "row is no message");
      break;
    case "removed":
      logger.info({ count: event.count }, "confirmed messages removed");
      break;
    case "claimed":
      break;
    case "error":
      logger.error({ err: event.error }, "store failed");
      break;
  }
}

function factsOf({ message, number, worker }: Claim): object {
  return { id: message.id, queue: message.route.queue, worker, claim: number };
}
