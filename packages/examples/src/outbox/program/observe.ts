import type { PassiveClock } from "@holdfast/clock";
import type { ResourceLock } from "@holdfast/controller";
import type { MessageStatus } from "../message/message-status.ts";
import type { OutboxStore } from "../store/outbox-store.ts";

/** What the tables of an outbox tell. */
export interface Observation {
  readonly statuses: Readonly<Record<MessageStatus, number>>;
  /** In how many milliseconds the next message is due; undefined if none is. */
  readonly nextAttempt: number | undefined;
  /** Who holds the lock of the compensation task; undefined if nobody does. */
  readonly holder: string | undefined;
}

/** Where {@link observe} looks. */
export interface Observed {
  readonly store: Pick<OutboxStore<never>, "counts" | "nextDue">;
  readonly lock: ResourceLock;
  readonly clock: PassiveClock;
}

export async function observe(
  { store, lock, clock }: Observed,
  signal: AbortSignal,
): Promise<Observation> {
  const statuses = await store.counts();
  const due = await store.nextDue();
  const held = await lock.get(signal);
  return {
    statuses,
    nextAttempt: due === undefined ? undefined : Math.max(0, due - clock.now()),
    holder: held?.record.holder || undefined,
  };
}
