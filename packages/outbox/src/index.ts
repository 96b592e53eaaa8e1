/**
 * A transactional outbox: messages saved with a change, and sent until they are confirmed.
 *
 * @packageDocumentation
 */

export {
  Compensation,
  type CompensationOptions,
} from "./compensation/compensation.ts";
export type {
  Message,
  MessageStatus,
  NewMessage,
  ResolvedRoute,
  Route,
} from "./message/message.ts";
export { type Schedule, waitAfter } from "./message/schedule.ts";
export { Outbox, type OutboxOptions } from "./outbox.ts";
export type { HeldClaim } from "./relay/attempt.ts";
export type { Publisher } from "./relay/publisher.ts";
export { Relay, type RelayStatus } from "./relay/relay.ts";
export type { RelayOptions } from "./relay/relay-options.ts";
export { Retention, type RetentionOptions } from "./retention/retention.ts";
export type { BrokenMessage, Claim, Claimed } from "./store/claim.ts";
export type { Database, Queryable, Row, Statement } from "./store/database.ts";
export type {
  Backlog,
  ClaimRequest,
  Failure,
  Fence,
  MessageOrder,
  OutboxStore,
  ReplayRequest,
  SaveOptions,
  SaveStatements,
} from "./store/outbox-store.ts";
export { isStaleFenceError, StaleFenceError } from "./store/stale-fence-error.ts";
export type { LockedTaskOptions } from "./task/locked-rounds.ts";
export type { OutboxEvent } from "./task/outbox-event.ts";
export type { TaskOptions } from "./task/task-options.ts";
