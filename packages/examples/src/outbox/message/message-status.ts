/**
 * Where a message is on its way.
 *
 * | Status | Meaning |
 * | --- | --- |
 * | `pending` | saved with the business change; no attempt has ended yet |
 * | `failed` | the last attempt failed; `nextScheduleTime` says when the next one is |
 * | `success` | the other side has confirmed it |
 * | `dead` | it failed more often than it may, or can never succeed; only a replay brings it back |
 */
export type MessageStatus = "pending" | "failed" | "success" | "dead";
