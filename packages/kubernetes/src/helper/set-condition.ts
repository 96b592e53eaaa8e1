import { type Clock, realClock } from "@holdfast/clock";
import { requireArray, requireClock, requireOptions, requireText } from "@holdfast/clock/internal";
import type { StatusCondition } from "../object/kube-object.ts";
import { formatSeconds } from "../object/timestamp.ts";

/** A condition for {@link setCondition}, without its time. */
export interface ConditionUpdate {
  /** Type, for example `Ready`. */
  readonly type: string;

  /** Whether the condition holds. */
  readonly status: "True" | "False" | "Unknown";

  /** Reason of the status in one word such as `Synced`: letters, digits, `_`, `,` and `:`. */
  readonly reason: string;

  /**
   * Explanation, for people.
   *
   * @defaultValue `""`
   */
  readonly message?: string | undefined;

  /**
   * `metadata.generation` that the condition is about.
   *
   * @defaultValue none
   */
  readonly observedGeneration?: number | undefined;
}

const STATUSES = ["True", "False", "Unknown"];

// As the schema of metav1.Condition.
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/;

/**
 * Sets one condition in a list, and keeps the others.
 *
 * @param conditions - the conditions so far. Not changed. Their type is that of the result: a status of `z.enum(["True",
 * "False", "Unknown"])` fits
 * @param update - see {@link ConditionUpdate}
 * @param clock - clock for the time of a transition. Default: `realClock`
 * @returns the same array if nothing has changed, so that no status needs to be written. Else a new one;
 * `lastTransitionTime` changes only with `status`
 * @throws TypeError or RangeError for a type, a status or a reason that Kubernetes does not allow
 *
 * Source: `SetStatusCondition` of k8s.io/apimachinery/pkg/api/meta.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { setCondition } from "@holdfast/kubernetes";
 *
 * const clock = new FakeClock();
 * const ready = { type: "Ready", status: "True", reason: "Synced" } as const;
 * const conditions = setCondition(undefined, ready, clock);
 * console.log(conditions[0]?.lastTransitionTime); // => 2000-01-01T00:00:00Z
 * console.log(setCondition(conditions, ready, clock) === conditions); // => true
 * ```
 */
export function setCondition(
  conditions: readonly never[] | undefined,
  update: ConditionUpdate,
  clock?: Clock,
): readonly StatusCondition[];
export function setCondition<Condition extends StatusCondition>(
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  clock?: Clock,
): readonly Condition[];
export function setCondition(
  conditions: readonly StatusCondition[] | undefined,
  update: ConditionUpdate,
  clock: Clock = realClock,
): readonly StatusCondition[] {
  const before = conditions ?? [];
  requireArray("conditions", before);
  const condition = resolveUpdate(update);
  requireClock("clock", clock);
  const index = before.findIndex(({ type }) => type === condition.type);
  const old = before[index];
  if (old !== undefined && isSame(old, condition)) return before;
  const isTransition = old?.status !== condition.status;
  const lastTransitionTime =
    old === undefined || isTransition ? formatSeconds(clock.now()) : old.lastTransitionTime;
  const next = { ...condition, lastTransitionTime };
  return old === undefined ? [...before, next] : before.with(index, next);
}

function resolveUpdate(update: ConditionUpdate): Omit<StatusCondition, "lastTransitionTime"> {
  requireOptions("condition", update);
  const { type, status, reason, message = "", observedGeneration } = update;
  requireText("condition.type", type);
  requireText("condition.reason", reason);
  if (!STATUSES.includes(status))
    throw new RangeError(
      `condition.status must be "True", "False" or "Unknown", got ${JSON.stringify(status)}`,
    );
  if (!REASON.test(reason))
    throw new RangeError(
      `condition.reason must be one word such as "Synced", got ${JSON.stringify(reason.slice(0, 300))}`,
    );
  return observedGeneration === undefined
    ? { type, status, reason, message }
    : { type, status, reason, message, observedGeneration };
}

function isSame(
  old: StatusCondition,
  condition: Omit<StatusCondition, "lastTransitionTime">,
): boolean {
  return (
    old.status === condition.status &&
    old.reason === condition.reason &&
    old.message === condition.message &&
    old.observedGeneration === condition.observedGeneration
  );
}
