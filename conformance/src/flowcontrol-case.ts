import type { GoInt } from "./nanoseconds.ts";

/** The arguments of `NewBackOffWithJitter`, as they are recorded. */
export interface FlowcontrolInput {
  readonly initial: GoInt;
  readonly max: GoInt;
  /** 0 or below says none. */
  readonly maxJitterFactor: number;
  /** An entry expires after more than so many times `max`; -1 says never. Absent: 2. */
  readonly hasExpired?: number;
}

/** A call of a method. Event times are instants of the fake clock, which starts at 0. */
export type FlowcontrolOp =
  | readonly [name: "get" | "reset" | "deleteEntry", key: string]
  | readonly [name: "next" | "since" | "sinceUpdate", key: string, eventTime: GoInt]
  | readonly [name: "gc"]
  | readonly [name: "step", duration: GoInt];
