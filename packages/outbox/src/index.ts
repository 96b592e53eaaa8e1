/**
 * A transactional outbox: messages saved with a change, and sent until they are confirmed.
 *
 * @packageDocumentation
 */

export { findError } from "@holdfast/clock";
export type { DeadLetters } from "./dead-letters.ts";
export { Recovery, type RecoveryOptions } from "./maintenance/recovery.ts";
export { Retention, type RetentionOptions } from "./maintenance/retention.ts";
export type {
  Message,
  MessageBackoff,
  MessageUnique,
  NewMessage,
  SavedMessage,
} from "./message/message.ts";
export { Outbox, type OutboxOptions } from "./outbox.ts";
export type { Publisher } from "./publisher/publisher.ts";
export { Relay, type RelayStatus } from "./relay/relay.ts";
export type { RelayOptions } from "./relay/relay-options.ts";
export type { OutboxService, OutboxServiceOptions } from "./service/outbox-service.ts";
export type { OutboxEvent } from "./task.ts";
