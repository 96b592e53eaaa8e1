import { COLUMNS } from "./message-row.ts";

// Every value is bound; only constants of this file and of the list of columns are put together.

/** A bound number of milliseconds since the epoch, as the database keeps it. */
const instant = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** Word for word the condition of the index `outbox_message_due`, or it would not be used. */
const UNCLAIMED =
  "claimed_by IS NULL AND NOT deleted AND message_status NOT IN ('success', 'dead')";

/** `found` is a list of ids. It is worked out once, or more rows could be locked than are taken. */
const claimAll = (found: string): string => `
  WITH found AS MATERIALIZED (${found}),
  m AS (
    UPDATE outbox_message SET
      claimed_by = $1, claimed_until = ${instant("$2")}, claim_number = claim_number + 1
    FROM found WHERE outbox_message.id = found.id
    RETURNING outbox_message.*
  )
  SELECT ${COLUMNS} FROM m LEFT JOIN outbox_content c ON c.message_id = m.id
  ORDER BY m.next_schedule_time, m.create_time`;

/**
 * Says in other words what {@link UNCLAIMED} says of messages that were never claimed. In the same
 * words, a planner that takes the table for nearly empty reads all that wait instead of a few ids.
 */
export const CLAIM_SAVED: string = claimAll(`
  SELECT id FROM outbox_message
  WHERE id = ANY($3::uuid[]) AND claim_number = 0 AND NOT deleted AND next_schedule_time IS NOT NULL
  FOR UPDATE SKIP LOCKED`);

export const CLAIM_DUE: string = claimAll(`
  SELECT id FROM outbox_message
  WHERE ${UNCLAIMED} AND next_schedule_time <= ${instant("$3")}
  ORDER BY next_schedule_time LIMIT $4
  FOR UPDATE SKIP LOCKED`);

export const NEXT_DUE: string = `
  SELECT (extract(epoch FROM min(next_schedule_time)) * 1000)::float8 AS next_due
  FROM outbox_message WHERE ${UNCLAIMED}`;

export const ORPHANS: string = `
  SELECT ${COLUMNS} FROM outbox_message m LEFT JOIN outbox_content c ON c.message_id = m.id
  WHERE m.claimed_by IS NOT NULL AND m.claimed_until <= ${instant("$1")}
  ORDER BY m.claimed_until LIMIT $2`;

export const INSERT: string = `
  WITH message AS (
    INSERT INTO outbox_message (
      id, create_time, edit_time, creator, editor, message_status, max_retry_times,
      next_schedule_time, init_backoff, backoff_factor, queue_name, exchange_name, exchange_type,
      routing_key, business_module, business_key
    ) VALUES (
      $1, ${instant("$2")}, ${instant("$2")}, $3, $3, 'pending', $4,
      ${instant("$5")}, $6, $7, $8, $9, $10, $11, $12, $13
    )
  )
  INSERT INTO outbox_content (message_id, content) VALUES ($1, $14)`;

/** Also right if a claim has ended meanwhile, as long as nobody has made a newer one. */
export const MARK_SUCCESS: string = `
  UPDATE outbox_message m SET
    message_status = 'success', next_schedule_time = NULL, claimed_by = NULL, claimed_until = NULL,
    editor = mark.editor, edit_time = ${instant("mark.now")}
  FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::float8[]) AS mark (id, number, editor, now)
  WHERE m.id = mark.id AND m.claim_number = mark.number
  RETURNING m.id, m.claim_number AS number`;

/** Asks for the claim too: sent twice, it must not count twice. */
export const MARK_FAIL: string = `
  UPDATE outbox_message SET
    message_status = CASE WHEN $6::float8 IS NULL THEN 'dead' ELSE 'failed' END,
    current_retry_times = least(current_retry_times + 1, max_retry_times),
    next_schedule_time = ${instant("$6")}, last_error = $5,
    claimed_by = NULL, claimed_until = NULL, editor = $3, edit_time = ${instant("$4")}
  WHERE id = $1 AND claim_number = $2 AND claimed_by IS NOT NULL
  RETURNING id`;

export const RELEASE: string = `
  UPDATE outbox_message SET claimed_by = NULL, claimed_until = NULL
  WHERE id = $1 AND claim_number = $2 AND claimed_by IS NOT NULL
  RETURNING id`;

/** A row that is no message. */
export const BURY: string = `
  UPDATE outbox_message SET
    message_status = 'dead', next_schedule_time = NULL, claimed_by = NULL, claimed_until = NULL,
    edit_time = ${instant("$3")}, last_error = $4
  WHERE id = $1 AND claim_number = $2`;

/** Changes nothing if there is a newer token. Who has an older one waits here for its end. */
export const FENCE: string = `
  INSERT INTO outbox_fence (name, token) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET token = excluded.token
  WHERE outbox_fence.token <= excluded.token
  RETURNING token`;

export const REPLAY: string = `
  UPDATE outbox_message SET
    message_status = 'pending', current_retry_times = 0, next_schedule_time = ${instant("$3")},
    editor = $2, edit_time = ${instant("$3")}
  WHERE message_status = 'dead' AND NOT deleted AND ($1::uuid[] IS NULL OR id = ANY($1::uuid[]))
  RETURNING id`;

export const FIND: string = `
  SELECT ${COLUMNS} FROM outbox_message m LEFT JOIN outbox_content c ON c.message_id = m.id
  WHERE m.id = $1`;

export const COUNTS: string = `
  SELECT message_status, count(*)::integer AS count FROM outbox_message
  WHERE NOT deleted GROUP BY message_status`;
