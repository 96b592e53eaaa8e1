import type { Queryable } from "../../database/database.ts";

/** The receipt and the effect, both or neither. */
const APPLY = `
  WITH fresh AS (
    INSERT INTO demo_receipt (message_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING message_id
  )
  INSERT INTO demo_effect (message_id) SELECT message_id FROM fresh RETURNING message_id`;

/**
 * Lets the effect of a message take place, unless it has: the receiver's own business change, in one
 * transaction with the key that it remembers.
 *
 * @returns whether it took place now
 */
export async function applyEffect(id: string, database: Queryable): Promise<boolean> {
  const applied = await database.query(APPLY, [id]);
  return applied.length > 0;
}
