import { type Cause, required, wrong } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, own } from "../json.ts";

/** Violations of the rules of a kind: Lease and Event, which controllers write. */
export function* kindCauses(object: JsonObject): Generator<Cause> {
  const { apiVersion, kind } = object;
  if (apiVersion === "coordination.k8s.io/v1" && kind === "Lease") yield* leaseCauses(object);
  if (apiVersion === "events.k8s.io/v1" && kind === "Event") yield* eventCauses(object);
}

function* leaseCauses({ spec }: JsonObject): Generator<Cause> {
  const { leaseDurationSeconds = 1, leaseTransitions = 0 } = isObject(spec) ? spec : {};
  if (typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0)
    yield wrong("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0");
  if (typeof leaseTransitions === "number" && leaseTransitions < 0)
    yield wrong("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0");
}

/** Longest texts of an event, in characters. */
const LIMITS = { reportingInstance: 128, action: 128, reason: 128, note: 1_024 } as const;

const REQUIRED = ["eventTime", "reportingController", "reportingInstance", "action", "reason"];

function* eventCauses(event: JsonObject): Generator<Cause> {
  for (const name of REQUIRED) if (!own(event, name)) yield required(name, "");
  const type = own(event, "type") ?? "";
  if (type !== "Normal" && type !== "Warning")
    yield wrong("type", type, "has invalid value: must be Normal or Warning");
  for (const [name, limit] of Object.entries(LIMITS)) {
    const text = own(event, name);
    if (typeof text === "string" && text.length > limit)
      yield wrong(name, text, `can have at most ${limit} characters`);
  }
  const namespace = namespaceOf(event["regarding"]);
  if (namespace !== metadataOf(event)["namespace"])
    yield wrong("involvedObject.namespace", namespace, "does not match event.namespace");
}

/** Events about objects of the cluster are in the namespace `default`. */
function namespaceOf(regarding: unknown): unknown {
  return (isObject(regarding) && own(regarding, "namespace")) || "default";
}
