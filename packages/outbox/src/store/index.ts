/**
 * For authors of a store: its contract, and the types that the parts of an outbox share.
 *
 * @packageDocumentation
 */

export type {
  ChangeDeadLettersOptions,
  ListDeadLettersOptions,
} from "../dead-letters.ts";
export type { LockedTaskOptions } from "../maintenance/locked-task.ts";
export type { MessageHeaders, MessageSchedule, MessageStatus } from "../message/message.ts";
export { delayAfter } from "../message/schedule.ts";
export { messageCodec } from "../message-codec.ts";
export type { BreakerOptions, HeldTopic } from "../relay/topic-holds.ts";
export type { TaskOptions } from "../task.ts";
export type { Activity } from "./activity.ts";
export type { Claim, Claimed, InvalidRow } from "./claim.ts";
export type { Database, Queryable, Row, Statement } from "./database.ts";
export type {
  Backlog,
  ClaimFilter,
  ClaimRequest,
  DeadLetterPage,
  DeadLetterSelection,
  Failure,
  Fence,
  MessageOrder,
  OutboxStore,
  Outcome,
  SaveStatements,
} from "./outbox-store.ts";
export { isStaleFenceError, StaleFenceError } from "./stale-fence-error.ts";
