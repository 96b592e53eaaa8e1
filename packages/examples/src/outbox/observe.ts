import type { PassiveClock } from "@holdfast/clock";
import type { ResourceLock } from "@holdfast/controller";
import type { MessageStatus } from "@holdfast/outbox";
import type { ProgramDatabase } from "./database/program-database.ts";
import { NOTHING_WAITS, readWaiting, type Waiting } from "./waiting.ts";

/** The lock of the recovery task. Instants are milliseconds since the epoch. */
export interface Holding {
  readonly holder: string;
  readonly since: number;
  /** When others may take it, unless it is renewed. */
  readonly until: number;
}

/** The state of the tables of an outbox. */
export interface Observation extends Waiting {
  readonly statuses: Readonly<Record<MessageStatus, number>>;
  /** Undefined if the lock is free. */
  readonly lock: Holding | undefined;
}

/** The state before the first look. */
export const NOTHING_SEEN: Observation = {
  ...NOTHING_WAITS,
  statuses: { pending: 0, retrying: 0, delivered: 0, dead: 0 },
  lock: undefined,
};

/** The places {@link observe} reads. */
export interface Observed {
  readonly tables: Pick<ProgramDatabase, "database" | "dialect" | "store">;
  readonly lock: ResourceLock;
  readonly clock: PassiveClock;
}

export async function observe(
  { tables, lock, clock }: Observed,
  signal: AbortSignal,
): Promise<Observation> {
  const statuses = await tables.store.counts();
  const waiting = await readWaiting(tables, Math.floor(clock.now()));
  return {
    ...waiting,
    statuses,
    lock: await holdingOf(lock, signal),
  };
}

async function holdingOf(lock: ResourceLock, signal: AbortSignal): Promise<Holding | undefined> {
  const held = await lock.get(signal);
  if (!held?.record.holder) return undefined;
  const { holder, acquiredAt, renewedAt, leaseDuration } = held.record;
  return { holder, since: acquiredAt, until: renewedAt + leaseDuration };
}
