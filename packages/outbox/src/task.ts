import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";
import {
  callSafely,
  finiteFrom,
  func,
  type Kinds,
  loopClock,
  messageOf,
  methods,
  positive,
  RepeatedLines,
  required,
} from "@holdfast/kit";
import { type Random, withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import { storedName } from "./message/stored-text.ts";
import type { Claim, InvalidRow } from "./store/claim.ts";
import type { Failure, OutboxStore } from "./store/outbox-store.ts";

/** Options that all tasks on an outbox share. Durations are in milliseconds. */
export interface TaskOptions {
  /**
   * A name that no other task has at the same time: host and process, for example. Not empty, at most
   * 255 bytes of UTF-8.
   */
  readonly name: string;

  /**
   * How long one request to the store may take. Above 0, finite.
   *
   * @defaultValue `10_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * The largest share of a wait that is added to it at random, so that messages that failed together do
   * not come back together. Finite, at least 0.
   *
   * @defaultValue `0.1`
   */
  readonly jitter?: number | undefined;

  /**
   * Called with every event. An error it throws is logged.
   *
   * @defaultValue none
   */
  readonly onEvent?: ((event: OutboxEvent) => void) | undefined;

  /**
   * Receiver of log lines. A failure that repeats is logged once a minute with its `count`. At most 100 messages a minute
   * have a line of their own; one with `others` stands for the rest, which are at debug level.
   *
   * @defaultValue warnings and errors on the console
   */
  readonly logger?: Logger | undefined;

  /**
   * Clock for all delays, due messages and the end of claims.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** Options with their defaults. */
export type Resolved<Options extends TaskOptions> = {
  readonly [Name in Exclude<keyof Options, "random">]-?: NonNullable<Options[Name]>;
} & Pick<Options, "random"> &
  Pick<EventSink, "lines" | "messageLines">;

/** The options of every task. */
export const TASK_OPTIONS: Kinds<TaskOptions> = {
  name: required(storedName),
  storeTimeout: positive,
  jitter: finiteFrom(0),
  onEvent: func,
  logger: methods(...Object.keys(defaultLogger)),
  clock: loopClock,
  random: func,
};

/** Fills in the defaults of options that were read. */
export function resolveTask(options: TaskOptions): Resolved<TaskOptions> {
  const { name, storeTimeout = 10_000, jitter = 0.1, onEvent = () => {} } = options;
  const { logger = defaultLogger, clock = realClock, random } = options;
  const lines = new RepeatedLines(clock);
  const messageLines = new RepeatedLines(clock);
  return { name, storeTimeout, jitter, onEvent, logger, lines, messageLines, clock, random };
}

/**
 * An event of a relay, a recovery or a retention.
 *
 * | Type | Meaning |
 * | --- | --- |
 * | `claimed` | a relay claimed `count` messages; the request took `duration` ms |
 * | `delivered` | the receiver confirmed the message; the outcome is stored |
 * | `failed`, `dead` | an attempt failed; the outcome is stored. `failure` holds the instant of the next attempt |
 * | `expired` | the recovery ended an expired claim |
 * | `released` | the claim was given back without an attempt: it was about to expire, or the relay stops |
 * | `lost` | the claim is not the newest: another relay has the message, or the reply to an earlier write was lost |
 * | `unwritten` | the outcome could not be stored before the claim expired; the message is sent again |
 * | `opened`, `closed` | the breaker of a topic: the relay sends none of its messages for `openFor` ms, then one; once that is confirmed, it sends all again |
 * | `paused`, `resumed` | a relay has seen that a topic was paused or resumed |
 * | `invalid` | a row is not a message; it is a dead letter now |
 * | `removed` | a retention round removed `count` messages |
 * | `clock` | a relay measured that its wall clock is `ahead` ms ahead of the database's; `isTolerated` if within its `clockSkew` |
 * | `listening` | a relay hears notifications from now on, or it does not: then it finds messages of other processes by its `pollInterval` |
 * | `restricted` | the database hides messages from this task, for `reason` |
 * | `error` | a request to the store, or to the lock, failed; it is repeated |
 */
export type OutboxEvent =
  | { readonly type: "claimed"; readonly count: number; readonly duration: number }
  | { readonly type: "delivered" | "released" | "lost"; readonly claim: Claim }
  | {
      readonly type: "failed" | "dead" | "expired";
      readonly claim: Claim;
      readonly failure: Failure;
    }
  | { readonly type: "unwritten"; readonly claim: Claim; readonly error: unknown }
  | {
      readonly type: "opened";
      /** The topic whose receiver fails. */
      readonly topic: string;
      /** Milliseconds without an attempt. */
      readonly openFor: number;
    }
  | {
      readonly type: "closed" | "paused" | "resumed";
      /** Its name. */
      readonly topic: string;
    }
  | { readonly type: "invalid"; readonly row: InvalidRow }
  | { readonly type: "removed"; readonly count: number }
  | {
      readonly type: "clock";
      /** Milliseconds that the clock of this process is ahead of that of the database; negative if it is behind. */
      readonly ahead: number;
      /** Whether the difference is small enough to do no harm. */
      readonly isTolerated: boolean;
    }
  | {
      readonly type: "listening";
      /** Whether notifications arrive. */
      readonly isListening: boolean;
    }
  | {
      readonly type: "restricted";
      /** Text that names the table, the role and the remedy. */
      readonly reason: string;
    }
  | {
      readonly type: "error";
      readonly error: unknown;
      /** `"lock"` for a request to the lock of a recovery or a retention; undefined for one to the store. */
      readonly of?: "lock" | undefined;
    };

/** A relay holds a topic from now on, or does not. */
export type HoldChange = Extract<OutboxEvent, { readonly topic: string }>;

/** From one attempt to ask for a restriction to the next, in milliseconds. */
const RESTRICTION_PERIOD = 60_000;

/** Reports once if the database hides messages from a task. An outage of it is reported by others. */
export async function reportRestriction(
  store: Pick<OutboxStore<never>, "restriction">,
  options: Resolved<TaskOptions>,
  signal: AbortSignal,
): Promise<void> {
  if (store.restriction === undefined) return;
  const { clock, storeTimeout } = options;
  const ask = async (): Promise<void> => {
    const reason = await withTimeout(async (own) => store.restriction?.(own), storeTimeout, {
      clock,
      signal,
      label: "restriction",
    });
    if (reason !== undefined) report({ type: "restricted", reason }, options);
  };
  const delay = (): number => RESTRICTION_PERIOD;
  await loop({ run: ask, isDone: () => true, onError: () => {}, delay, signal, clock });
}

/** Receivers of events. */
interface EventSink {
  readonly logger: Logger;
  readonly onEvent: (event: OutboxEvent) => void;
  readonly lines: RepeatedLines;
  /** Lines about one message each. */
  readonly messageLines: RepeatedLines;
}

/**
 * Logs an event and calls `onEvent`, whose errors are logged too. It never throws: a throw would make the
 * caller repeat work that is done.
 */
export function report(event: OutboxEvent, sink: EventSink): void {
  callSafely(() => log(event, sink));
  callSafely(
    () => sink.onEvent(event),
    (err) => callSafely(() => logError(err, "hook threw; ignored", sink)),
  );
}

/** Logs an error, once a minute for each message. */
function logError(err: unknown, message: string, { logger, lines }: EventSink): void {
  const more = lines.detailsOf(message, messageOf(err));
  if (more !== undefined) logger.error({ err, ...more }, message);
}

type FailedEvent = Extract<OutboxEvent, { readonly failure: Failure }>;

/** All messages of a topic fail while its receiver is down: a warning a minute for each topic. */
function logFailed({ claim, failure }: FailedEvent, sink: EventSink): void {
  const { logger, lines } = sink;
  const more = lines.detailsOf(`failed ${claim.message.topic}`, failure.error);
  const level = more === undefined ? "debug" : "warn";
  logger[level]({ ...factsOf(claim), ...failure, ...more }, "attempt failed");
}

/** A receiver that stays away opens its breaker again and again. */
function logOpened(
  { topic, openFor }: Extract<OutboxEvent, { readonly type: "opened" }>,
  { logger, lines }: EventSink,
): void {
  const more = lines.detailsOf(`opened ${topic}`, "");
  const level = more === undefined ? "debug" : "warn";
  logger[level]({ topic, openFor, ...more }, "receiver of a topic fails; its messages are held");
}

/** The lines about one message each. */
const MESSAGE_LINES = {
  expired: ["warn", "claim expired"],
  dead: ["error", "message is a dead letter"],
  lost: ["warn", "outcome ignored; the claim is not the newest"],
  unwritten: ["error", "outcome not stored before the claim expired; message will be sent again"],
  invalid: ["error", "row is not a valid message; marked dead"],
} as const;

/** Logs what happened to a message. Of many messages in a minute, a line with `others` stands for those beyond a hundred. */
function logMessage(
  type: keyof typeof MESSAGE_LINES,
  details: { readonly id: string; readonly [name: string]: unknown },
  { logger, messageLines }: EventSink,
): void {
  const [level, message] = MESSAGE_LINES[type];
  const more = messageLines.detailsOf(`${message} ${details.id}`, "");
  logger[more === undefined ? "debug" : level]({ ...details, ...more }, message);
}

function log(event: OutboxEvent, sink: EventSink): void {
  const { logger } = sink;
  switch (event.type) {
    case "delivered":
    case "released":
      logger.debug(factsOf(event.claim), `message ${event.type}`);
      break;
    case "failed":
      logFailed(event, sink);
      break;
    case "expired":
    case "dead":
      logMessage(event.type, { ...factsOf(event.claim), ...event.failure }, sink);
      break;
    case "lost":
      logMessage(event.type, factsOf(event.claim), sink);
      break;
    case "unwritten":
      logMessage(event.type, { ...factsOf(event.claim), err: event.error }, sink);
      break;
    case "opened":
      logOpened(event, sink);
      break;
    case "closed":
    case "paused":
    case "resumed":
      logger.info({ topic: event.topic }, `topic ${event.type}`);
      break;
    case "invalid":
      logMessage(event.type, { ...event.row }, sink);
      break;
    case "removed":
      logger.info({ count: event.count }, "delivered messages removed");
      break;
    case "clock":
      if (!event.isTolerated)
        logger.warn(
          { ahead: event.ahead },
          "clock differs from that of the database by more than clockSkew; messages are late, or sent twice",
        );
      break;
    case "restricted":
      logger.warn({ reason: event.reason }, "the database may hide messages");
      break;
    case "claimed":
    case "listening":
      break;
    case "error":
      logError(event.error, `request to the ${event.of ?? "store"} failed; repeating it`, sink);
      break;
  }
}

function factsOf({ message, number, relay }: Claim) {
  return { id: message.id, topic: message.topic, key: message.key, relay, claim: number };
}
