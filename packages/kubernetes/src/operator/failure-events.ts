import type { Clock } from "@holdfast/clock";
import type { ControllerArguments, ControllerOptions, Reconciler } from "@holdfast/controller";
import { requireFunction, requireHooks, requireMethods } from "@holdfast/kit";
import type { Informer } from "../cluster/informer.ts";
import type { EventRecorder } from "../helper/event-recorder.ts";
import type { CachedObject, KubeObject } from "../object/kube-object.ts";

/** How long an Event of a lasting failure counts, in milliseconds: servers remove it after an hour. */
const LIFE = 1_800_000;

const ACTION = "Reconcile";

/** Options of a controller of an operator: those of `Controller`, and Events of failures. */
export type OperatorControllerArguments<Item = string> = ControllerArguments<Item> & {
  /**
   * Records failures of reconciles as Events of the object: the informer that has the object of a key.
   *
   * | Event | When |
   * | --- | --- |
   * | `Warning`, reason `ReconcileFailed`, note: the text of the error | the first failure; another text, numbers apart; every 30 minutes while it lasts |
   * | `Normal`, reason `Reconciled` | the first success after that |
   *
   * An object that the informer does not have gets none. The role needs `create` and `patch` on `events` of
   * `events.k8s.io`. Users who may read Events read the text of the error.
   *
   * @defaultValue none
   */
  readonly failureEvents?: Pick<Informer<KubeObject>, "get"> | undefined;
};

interface Recorder {
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** A failure that has an Event. */
interface Failure {
  /** Its text without numbers, which change without a change of the cause. */
  readonly text: string;
  /** Monotonic instant of the Event. */
  readonly at: number;
}

/** The options with hooks that record failures of reconciles as Events of the objects. */
export function recordFailures<Item>(
  options: ControllerOptions<Item>,
  objects: Pick<Informer<KubeObject>, "get">,
  { events, clock }: Recorder,
): ControllerOptions<Item> {
  requireMethods("options.failureEvents", objects, ["get"]);
  requireFunction("options.reconcile", options.reconcile);
  requireHooks("options", { onError: options.onError });
  const failures = new Map<string, Failure>();

  function failed(key: string, error: unknown): void {
    const object = find(objects, key);
    if (object === undefined) {
      failures.delete(key);
      return;
    }
    const note = error instanceof Error ? error.message || error.name : String(error);
    const text = note.replace(/\d+/g, "0");
    const now = clock.monotonic();
    const last = failures.get(key);
    if (last !== undefined && last.text === text && now - last.at < LIFE) return;
    failures.set(key, { text, at: now });
    events.recordText(object, { type: "Warning", reason: "ReconcileFailed", action: ACTION, note });
  }

  function succeeded(key: string): void {
    if (!failures.delete(key)) return;
    const object = find(objects, key);
    if (object === undefined) return;
    events.record(object, {
      reason: "Reconciled",
      action: ACTION,
      note: "reconciled after a failure",
    });
  }

  const reconcile: Reconciler<Item> = async (request) => {
    const result = await options.reconcile(request);
    // One that was aborted may have returned early.
    if (!request.signal.aborted) succeeded(request.key);
    return result;
  };
  return {
    ...options,
    reconcile,
    onError(error, origin) {
      if (origin.kind === "reconcile") failed(origin.key, error);
      return options.onError?.(error, origin);
    },
  };
}

/** The object of a key; undefined for a key that names none, and before the first list. */
function find(
  objects: Pick<Informer<KubeObject>, "get">,
  key: string,
): CachedObject<KubeObject> | undefined {
  try {
    return objects.get(key);
  } catch {
    return undefined;
  }
}
