/**
 * An outbox in memory for tests, with faults, and a publisher that records.
 *
 * @packageDocumentation
 */

export { faultyStore, type StoreFaults } from "./faulty-store.ts";
export { MemoryOutbox, type MemoryOutboxOptions } from "./memory-outbox.ts";
export { MemoryStore, type MemoryStoreOptions, MemoryTransaction } from "./memory-store.ts";
export {
  type RecordedAttempt,
  RecordingPublisher,
  type RecordingPublisherOptions,
} from "./recording-publisher.ts";
