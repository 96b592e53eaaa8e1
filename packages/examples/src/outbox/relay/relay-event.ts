import type { Logger } from "@holdfast/controller";
import type { BrokenMessage, Claim } from "../store/claim.ts";
import type { Failure } from "../store/outbox-store.ts";

/** What a relay, or the compensation task, has done or met. */
export type RelayEvent =
  | {
      /** The other side has confirmed it, and that is written. */
      readonly type: "published";
      readonly claim: Claim;
    }
  | {
      /** An attempt has failed, and that is written; `failure` says what comes of it. */
      readonly type: "failed" | "dead";
      readonly claim: Claim;
      readonly failure: Failure;
    }
  | {
      /** The claim of a worker that has died was counted as a failure. */
      readonly type: "orphan";
      readonly claim: Claim;
      readonly failure: Failure;
    }
  | {
      /** Given back without an attempt: its time was nearly over, or the relay stops. */
      readonly type: "released";
      readonly claim: Claim;
    }
  | {
      /**
       * The claim was over: somebody else has the message now, or an earlier request had written the
       * outcome, and its answer was lost.
       */
      readonly type: "lost";
      readonly claim: Claim;
    }
  | {
      /** The outcome could not be written while the claim lasted: it will be sent again. */
      readonly type: "unwritten";
      readonly claim: Claim;
      readonly error: unknown;
    }
  | {
      /** A row that is no message; it is dead. */
      readonly type: "broken";
      readonly broken: BrokenMessage;
    }
  | {
      /** The store did not answer; it is asked again. */
      readonly type: "error";
      readonly error: unknown;
    };

/** Where events go. */
export interface EventSink {
  readonly logger: Logger;
  readonly onEvent: (event: RelayEvent) => void;
}

/**
 * Logs an event and tells whoever listens, whose errors are logged too. It never throws: what has
 * happened has happened, and would be done again.
 */
export function report(event: RelayEvent, { logger, onEvent }: EventSink): void {
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

function log(event: RelayEvent, logger: Logger): void {
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
    case "error":
      logger.error({ err: event.error }, "store failed");
      break;
  }
}

function factsOf({ message, number, worker }: Claim): object {
  return { id: message.id, queue: message.route.queue, worker, claim: number };
}
