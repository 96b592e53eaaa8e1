import type { Behaviour } from "./peer.ts";

/** A change in the life of a client. `at` is a monotonic instant. */
export type ClientEvent =
  | {
      readonly type: "started";
      readonly at: number;
      readonly behaviour: Behaviour;
      readonly attempt: number;
      /** How long after `at` the next attempt starts at the earliest. */
      readonly delay: number;
    }
  | { readonly type: "accepted"; readonly at: number; readonly delay: number }
  | {
      readonly type: "failed";
      readonly at: number;
      readonly error: unknown;
      readonly delay: number;
    }
  | { readonly type: "lost"; readonly at: number };

/** One attempt to connect, and the connection it led to. Instants are monotonic. */
export interface Attempt {
  readonly behaviour: Behaviour;
  /** Counted from 1, and from 1 again after a connection. */
  readonly attempt: number;
  readonly startedAt: number;
  /** How long after its start the next one starts at the earliest. */
  readonly delay: number;
  readonly phase: "connecting" | "connected" | "failed" | "lost";
  readonly acceptedAt: number | undefined;
  /** When it failed, or its connection was lost. */
  readonly endedAt: number | undefined;
  readonly error: unknown;
}

/** The last of the attempts after an event; a new one after its start. */
function next(last: Attempt, event: Exclude<ClientEvent, { type: "started" }>): Attempt {
  const { at } = event;
  switch (event.type) {
    case "accepted":
      return { ...last, phase: "connected", acceptedAt: at, delay: event.delay };
    case "failed":
      return { ...last, phase: "failed", endedAt: at, error: event.error };
    case "lost":
      return { ...last, phase: "lost", endedAt: at };
  }
}

/** The attempts, the oldest first, after an event. */
export function reduce(attempts: readonly Attempt[], event: ClientEvent): readonly Attempt[] {
  if (event.type === "started") {
    const { behaviour, attempt, at, delay } = event;
    const phase = "connecting";
    const unknown = { acceptedAt: undefined, endedAt: undefined, error: undefined };
    return [...attempts, { behaviour, attempt, startedAt: at, delay, phase, ...unknown }];
  }
  const last = attempts.at(-1);
  if (last === undefined) throw new Error(`grpc-connect: "${event.type}" before any attempt`);
  return attempts.with(-1, next(last, event));
}

/** When the attempt after this one may start: not before its delay is over, nor before it has ended. */
export function nextDue({ startedAt, delay, endedAt }: Attempt): number | undefined {
  return endedAt === undefined ? undefined : Math.max(startedAt + delay, endedAt);
}
