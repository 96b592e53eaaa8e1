import { isEqual, isObject, type JsonObject } from "@holdfast/kit/kubernetes";
import { builtIn } from "../../object/built-in.ts";
import type { JsonPatchOperation, KubeObject } from "../../object/kube-object.ts";
import type { Resource } from "../../object/resource.ts";
import { pemsIn } from "./secret-state.ts";

/** An object with addresses of the webhooks, each of which needs a bundle of authorities. */
export interface TrustTarget {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
}

const ADMISSION = "admissionregistration.k8s.io/v1";
const VALIDATING = builtIn<KubeObject>(ADMISSION, "ValidatingWebhookConfiguration");
const MUTATING = builtIn<KubeObject>(ADMISSION, "MutatingWebhookConfiguration");
const DEFINITION = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");

/** The objects that must trust the certificate of an operator. */
export function trustTargets(parts: {
  readonly name: string;
  readonly types: readonly string[];
  readonly definitions: readonly string[];
}): readonly TrustTarget[] {
  const { name, types, definitions } = parts;
  return [
    ...(types.includes("validating") ? [{ resource: VALIDATING, name }] : []),
    ...(types.includes("mutating") ? [{ resource: MUTATING, name }] : []),
    ...definitions.map((definition) => ({ resource: DEFINITION, name: definition })),
  ];
}

/** An address in an object, and the path of its bundle. */
interface Address {
  readonly path: string;
  readonly bundle: string;
}

function addressesIn(object: object): readonly Address[] {
  const { webhooks, spec } = object as { webhooks?: unknown; spec?: unknown };
  const addressAt = (client: unknown, path: string): Address[] => {
    const { caBundle } = isObject(client) ? client : ({} as JsonObject);
    const bundle = typeof caBundle === "string" ? caBundle : "";
    return isObject(client) ? [{ path: `${path}/caBundle`, bundle }] : [];
  };
  if (Array.isArray(webhooks))
    return webhooks.flatMap((one: JsonObject, index) =>
      addressAt(one["clientConfig"], `/webhooks/${index}/clientConfig`),
    );
  const conversion = isObject(spec) ? spec["conversion"] : undefined;
  const { strategy, webhook } = isObject(conversion) ? conversion : ({} as JsonObject);
  if (strategy !== "Webhook" || !isObject(webhook)) return [];
  return addressAt(webhook["clientConfig"], "/spec/conversion/webhook/clientConfig");
}

/** The authorities that all addresses of an object trust. Undefined for an object without addresses. */
export function bundleIn(object: object): readonly string[] | undefined {
  const [first, ...rest] = addressesIn(object).map(({ bundle }) =>
    pemsIn(Buffer.from(bundle, "base64").toString("utf8")),
  );
  if (first === undefined) return undefined;
  // Addresses that differ are not as they should be: an order that no state has makes them equal.
  if (rest.every((other) => isEqual(other, first))) return first;
  return first.filter((id) => rest.every((other) => other.includes(id))).reverse();
}

/** The patch that gives all addresses of an object a bundle, if the object has not changed since it was read. */
export function bundlePatch(object: KubeObject, bundle: readonly string[]): JsonPatchOperation[] {
  // Each certificate ends with a newline: without it a server refuses the whole bundle.
  const value = Buffer.from(bundle.join("")).toString("base64");
  return [
    // A conflict if the object has changed. A failed "test" would be no conflict.
    { op: "replace", path: "/metadata/resourceVersion", value: object.metadata?.resourceVersion },
    ...addressesIn(object).map(({ path }): JsonPatchOperation => ({ op: "add", path, value })),
  ];
}
