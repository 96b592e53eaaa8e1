import { callSafely, isThenable, messageOf } from "@holdfast/kit";
import { isObject, type JsonObject, own } from "@holdfast/kit/kubernetes";
import { printable } from "../printable.ts";
import type { ConversionMetric } from "./webhook-metrics.ts";

/** A custom resource with versions, as `customResource` makes it. */
export interface Convertible {
  /** Its CustomResourceDefinition. */
  readonly crd?: object;

  /** Converts an object to a version of the resource. */
  readonly convert: (object: never, version: never) => unknown;
}

/** The receivers of the facts about conversions. */
export interface ConversionReports {
  readonly onError: (details: object) => void;
  readonly onConverted: (conversion: ConversionMetric) => void;
}

/** Answers the field `request` of a ConversionReview with the field `response`. */
export type Converter = (request: unknown) => JsonObject | Promise<JsonObject>;

interface Names {
  readonly spec?: { readonly group?: unknown; readonly names?: { readonly kind?: unknown } };
}

/** The group and the kind of a definition. */
export function kindOf({ crd }: Convertible): string {
  const { spec } = (crd ?? {}) as Names;
  return `${String(spec?.group)}/${String(spec?.names?.kind)}`;
}

/** Longest message of a failed conversion, which the API server repeats to everybody who reads. */
const MAX_MESSAGE = 1_000;

/** Answers reviews of all these resources. */
export function converterOf(
  resources: readonly Convertible[],
  { onError, onConverted }: ConversionReports,
): Converter {
  const kinds = new Map(resources.map((resource) => [kindOf(resource), resource]));
  return async (request) => {
    const { uid, version, objects } = requireConversion(request);
    const report = (result: ConversionMetric["result"]): void =>
      callSafely(() => onConverted({ version, result, objects: objects.length }));
    const convertedObjects: unknown[] = [];
    for (const object of objects) {
      try {
        const converted = convertOne(kinds, object, version);
        convertedObjects.push(isThenable(converted) ? await converted : converted);
      } catch (err) {
        const { kind, metadata } = isObject(object) ? object : ({} as JsonObject);
        const { namespace, name } = isObject(metadata) ? metadata : ({} as JsonObject);
        callSafely(() => onError({ uid, kind, namespace, name, version, err }));
        report("failure");
        const message = printable(messageOf(err)).slice(0, MAX_MESSAGE);
        return { uid, convertedObjects: [], result: { status: "Failure", message } };
      }
    }
    report("success");
    return { uid, convertedObjects, result: { status: "Success" } };
  };
}

function convertOne(
  kinds: ReadonlyMap<string, Convertible>,
  object: unknown,
  desired: string,
): unknown {
  const [group, version = ""] = desired.split("/");
  const kind = isObject(object) ? String(own(object, "kind")) : "undefined";
  const resource = kinds.get(`${group}/${kind}`);
  if (resource === undefined)
    throw new Error(`no conversion of kind ${JSON.stringify(kind)} to ${JSON.stringify(desired)}`);
  return resource.convert(object as never, version as never);
}

interface Conversion {
  readonly uid: string;
  readonly version: string;
  readonly objects: readonly unknown[];
}

/** @throws TypeError for a request that is none */
function requireConversion(request: unknown): Conversion {
  const { uid, desiredAPIVersion: version, objects } = isObject(request) ? request : {};
  if (typeof uid === "string" && typeof version === "string" && Array.isArray(objects))
    return { uid, version, objects };
  throw new TypeError("request must be that of a ConversionReview");
}
