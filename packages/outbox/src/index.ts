/**
 * A transactional outbox: messages saved with a change, and sent until they are confirmed.
 *
 * @packageDocumentation
 */

export { type ErrorClass, findError } from "@holdfast/clock";
export type {
  ChangeDeadLettersOptions,
  DeadLetters,
  ListDeadLettersOptions,
} from "./dead-letters.ts";
export type { LockedTaskOptions } from "./maintenance/locked-task.ts";
export { Recovery, type RecoveryOptions } from "./maintenance/recovery.ts";
export { Retention, type RetentionOptions } from "./maintenance/retention.ts";
export type {
  Message,
  MessageBackoff,
  MessageHeaders,
  MessageSchedule,
  MessageStatus,
  MessageUnique,
  NewMessage,
  SavedMessage,
} from "./message/message.ts";
export { delayAfter } from "./message/schedule.ts";
export { messageCodec } from "./message-codec.ts";
export { Outbox, type OutboxOptions } from "./outbox.ts";
export type { Publisher } from "./publisher/publisher.ts";
export { Relay, type RelayStatus } from "./relay/relay.ts";
export type { RelayOptions } from "./relay/relay-options.ts";
export type { BreakerOptions, HeldTopic } from "./relay/topic-holds.ts";
export type { OutboxService, OutboxServiceOptions } from "./service/outbox-service.ts";
export type { Activity } from "./store/activity.ts";
export type { Claim, Claimed, InvalidRow } from "./store/claim.ts";
export type { Database, Queryable, Row, Statement } from "./store/database.ts";
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
} from "./store/outbox-store.ts";
export {
  isStaleFenceError,
  StaleFenceError,
} from "./store/stale-fence-error.ts";
export type { OutboxEvent, TaskOptions } from "./task.ts";
