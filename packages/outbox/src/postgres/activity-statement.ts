import { ACTIVITY_LIMIT, SLOT } from "../store/activity.ts";
import { instant, type Kind, READY } from "./claim-statements.ts";

/** The maximum number of topics of which waiting messages are read. */
const TOPICS = 50;

/**
 * Messages by status, topic and slot: $1 is the instant since which slots are told apart. Every part reads an index from one
 * end, and stops. The topics of those that wait share the rows, so that a long one hides no other.
 */
export function activityOf(message: string): string {
  const { atByTopic: at }: Kind = READY;
  const next = (after: string): string => `
    SELECT status, topic FROM ${message} WHERE ${at} IS NOT NULL AND ${after} ORDER BY status, topic LIMIT 1`;
  const waiting = (status: string, order: string): string => `
    SELECT m.* FROM lane CROSS JOIN share CROSS JOIN LATERAL (
      SELECT m.status, m.topic, m.created_at, m.updated_at, share.rows AS most FROM ${message} m
      WHERE lane.status = '${status}' AND m.status = lane.status AND m.topic = lane.topic AND ${at} <= 'infinity'
      ORDER BY ${at} ${order} LIMIT (SELECT rows FROM share)) m`;
  const ended = (status: string, among: string, by: string): string => `
    (SELECT status, topic, created_at, updated_at, NULL::bigint AS most FROM ${message}
    WHERE status = '${status}' ${among} ORDER BY ${by} LIMIT ${ACTIVITY_LIMIT})`;
  const slot = `floor(extract(epoch FROM updated_at) * 1000 / ${SLOT}) * ${SLOT}`;
  return `
    WITH RECURSIVE every AS (
      (${next("true")})
      UNION ALL
      SELECT next.* FROM every last
      CROSS JOIN LATERAL (${next("(status, topic) > (last.status, last.topic)")}) next),
    lane AS MATERIALIZED (SELECT * FROM every LIMIT ${2 * TOPICS}),
    share AS MATERIALIZED (SELECT ${ACTIVITY_LIMIT} / greatest(count(*), 1) AS rows FROM lane),
    found AS (
      ${ended("delivered", `AND updated_at >= ${instant("$1")}`, "updated_at DESC")}
      UNION ALL ${ended("dead", "", "updated_at DESC, id DESC")}
      UNION ALL ${waiting("pending", "ASC")}
      UNION ALL ${waiting("retrying", "DESC")})
    SELECT status, topic, (CASE WHEN updated_at >= ${instant("$1")} THEN ${slot} END)::float8 AS slot,
      count(*)::integer AS messages, (extract(epoch FROM min(created_at)) * 1000)::float8 AS oldest, max(most)::integer AS most
    FROM found GROUP BY 1, 2, 3`;
}
