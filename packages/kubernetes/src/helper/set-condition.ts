import { type Clock, realClock } from "@holdfast/clock";
import {
  requireArray,
  requireClock,
  requireOptions,
  requireText,
  requireWord,
} from "@holdfast/kit";
import { formatSeconds } from "@holdfast/kit/kubernetes";
import type { StatusCondition } from "../object/kube-object.ts";

/** A condition for {@link setCondition} and {@link ownConditions}, without its time. */
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
 * Sets one condition in a list, and keeps the others: for an `update`, or for `modify`. For an `apply` use
 * {@link ownConditions}: an apply owns each condition that it names, those of others too.
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
  const condition = resolveUpdate("condition", update);
  requireClock("clock", clock);
  const index = before.findIndex(({ type }) => type === condition.type);
  const old = before[index];
  const next = nextOf(old, condition, clock);
  if (next === old) return before;
  return old === undefined ? [...before, next] : before.with(index, next);
}

/**
 * The conditions of one controller, for the status that it applies. They have the time of their last transition, from the
 * conditions so far; conditions of other controllers are never among them, so they stay as they are, and theirs.
 *
 * An apply removes a condition that it named before and no longer names. So name each condition that the controller has:
 * with its new content, or by its type alone to keep it as it is.
 *
 * @param conditions - the conditions so far, of all controllers. Not changed
 * @param own - each condition of this controller: see {@link ConditionUpdate}, or its type. A type without a condition so
 * far is left out
 * @param clock - clock for the time of a transition. Default: `realClock`
 * @returns a new list with the conditions of `own` alone, in this order. One that has not changed is the same object as
 * before. `lastTransitionTime` changes only with `status`
 * @throws TypeError or RangeError for a type, a status or a reason that Kubernetes does not allow, or a type that is named
 * twice
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ownConditions } from "@holdfast/kubernetes";
 *
 * const clock = new FakeClock();
 * const theirs = { type: "Billed", status: "True", reason: "Paid", message: "", lastTransitionTime: "" } as const;
 * const ready = { type: "Ready", status: "True", reason: "Synced" } as const;
 * const mine = ownConditions([theirs], [ready, "Published"], clock);
 * console.log(mine.map(({ type }) => type)); // => [ 'Ready' ]
 * // await client.apply(Site, { metadata: { name, namespace }, status: { conditions: mine } }, { subresource: "status" });
 * ```
 */
export function ownConditions(
  conditions: readonly never[] | undefined,
  own: readonly (ConditionUpdate | string)[],
  clock?: Clock,
): readonly StatusCondition[];
export function ownConditions<Condition extends StatusCondition>(
  conditions: readonly Condition[] | undefined,
  own: readonly (ConditionUpdate | string)[],
  clock?: Clock,
): readonly Condition[];
export function ownConditions(
  conditions: readonly StatusCondition[] | undefined,
  own: readonly (ConditionUpdate | string)[],
  clock: Clock = realClock,
): readonly StatusCondition[] {
  const before = conditions ?? [];
  requireArray("conditions", before);
  requireArray("own", own);
  requireClock("clock", clock);
  const types = new Set<string>();
  return own.flatMap((one, index) => {
    const name = `own[${index}]`;
    const update = typeof one === "string" ? undefined : resolveUpdate(name, one);
    const type = update?.type ?? (one as string);
    requireText(name, type);
    if (types.has(type)) throw new RangeError(`own must name each type once, got ${type} twice`);
    types.add(type);
    const old = before.find((condition) => condition.type === type);
    if (update !== undefined) return [nextOf(old, update, clock)];
    return old === undefined ? [] : [old];
  });
}

type TimelessCondition = Omit<StatusCondition, "lastTransitionTime">;

/** The condition with its time: the old one itself if nothing has changed. */
function nextOf(
  old: StatusCondition | undefined,
  condition: TimelessCondition,
  clock: Clock,
): StatusCondition {
  if (old !== undefined && isSame(old, condition)) return old;
  const isTransition = old?.status !== condition.status;
  const lastTransitionTime =
    old === undefined || isTransition ? formatSeconds(clock.now()) : old.lastTransitionTime;
  return { ...condition, lastTransitionTime };
}

function resolveUpdate(name: string, update: ConditionUpdate): TimelessCondition {
  requireOptions(name, update);
  const { type, status, reason, message = "", observedGeneration } = update;
  requireText(`${name}.type`, type);
  requireText(`${name}.reason`, reason);
  requireWord(`${name}.status`, status, ...STATUSES);
  if (!REASON.test(reason))
    throw new RangeError(
      `${name}.reason must be one word such as "Synced", got ${JSON.stringify(reason.slice(0, 300))}`,
    );
  return observedGeneration === undefined
    ? { type, status, reason, message }
    : { type, status, reason, message, observedGeneration };
}

function isSame(old: StatusCondition, condition: TimelessCondition): boolean {
  return (
    old.status === condition.status &&
    old.reason === condition.reason &&
    old.message === condition.message &&
    old.observedGeneration === condition.observedGeneration
  );
}
