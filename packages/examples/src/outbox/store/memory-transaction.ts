import type { Message } from "../message/message.ts";

/** What a transaction of a `MemoryStore` would add, if it commits. */
export class MemoryTransaction {
  readonly saved: Message[] = [];
}
