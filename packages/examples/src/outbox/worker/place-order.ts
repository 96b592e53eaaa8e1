import { randomUUID } from "node:crypto";
import type { Outbox, Queryable } from "@holdfast/outbox";
import { retry } from "@holdfast/wait";
import type { Dialect } from "../database/dialect.ts";
import { isTakenBack, messageOf } from "../order.ts";
import type { Reach } from "./crash-point.ts";

class TakenBack extends Error {}

/** Options for {@link placeOrder}. */
export interface PlaceOptions {
  readonly dialect: Dialect;
  readonly reach: Reach;
  readonly signal: AbortSignal;
}

/**
 * Places an order, and saves the message that tells of it, in one transaction. An order that is there
 * already has its message, too.
 */
export async function placeOrder(
  order: number,
  outbox: Outbox<Queryable>,
  { dialect, reach, signal }: PlaceOptions,
): Promise<void> {
  const work = async (tx: Queryable): Promise<void> => {
    const id = randomUUID();
    const isNew = await dialect.insertOrder(tx, order, id);
    if (isNew) await outbox.save(tx, messageOf(order, id));
    if (isTakenBack(order)) throw new TakenBack();
    reach("before-commit");
  };
  try {
    await retry(() => outbox.transaction(work), {
      retries: Number.POSITIVE_INFINITY,
      backoff: { duration: 100, factor: 2, cap: 2_000 },
      shouldRetry: ({ error }) => !(error instanceof TakenBack),
      signal,
    });
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
  }
}
