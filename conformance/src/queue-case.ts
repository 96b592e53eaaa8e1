import type { GoLimiter } from "./go-limiter.ts";
import type { GoInt } from "./nanoseconds.ts";

/** One operation on a queue: its name, then a key or an id, then nanoseconds. */
export type QueueOp = readonly [name: string, ...args: GoInt[]];

/** A trace on one of Go's queues: `res[i]` is what `ops[i]` did. */
export interface QueueCase {
  readonly id: number;
  readonly kind: string;
  readonly profile: string;
  readonly limiter?: GoLimiter;
  readonly ops: readonly QueueOp[];
  readonly res: readonly QueueResult[];
  readonly processingAtEnd: readonly number[];
}

/** See the header of the file. */
interface QueueResult {
  readonly w?: readonly (readonly [id: number, item: number | null])[];
  readonly dr?: readonly number[];
  readonly n?: number;
  readonly unordered?: boolean;
}
