import { randomUUID } from "node:crypto";
import { retry } from "@holdfast/wait";
import type { Queryable } from "../../database/database.ts";
import type { Outbox } from "../../outbox.ts";
import { INSERT_ORDER, isTakenBack, messageOf } from "../order.ts";
import type { Reach } from "./crash-point.ts";

class TakenBack extends Error {}

/**
 * Places an order, and saves the message that tells of it, in one transaction. An order that is there
 * already has its message, too.
 */
export async function placeOrder(
  order: number,
  outbox: Outbox<Queryable>,
  { reach, signal }: { readonly reach: Reach; readonly signal: AbortSignal },
): Promise<void> {
  const work = async (tx: Queryable): Promise<void> => {
    const id = randomUUID();
    const inserted = await tx.query(INSERT_ORDER, [order, id]);
    if (inserted.length > 0) await outbox.save(tx, messageOf(order, id));
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
