// Which requests a webhook is asked about.

import type { Webhook, WebhookRule } from "@holdfast/kubernetes";
import { conditionHolds } from "../../crd-rules/cel/rules.ts";
import { isObject, type JsonObject, metadataOf, own } from "../../object/json.ts";
import { Failure, qualified } from "../failure.ts";
import { type LabelRequirement, requirementsOf } from "../request/label-selector.ts";
import type { ServedResource } from "../resource/served-resource.ts";

/** The part of a request that rules are about. */
export interface Asked {
  readonly served: ServedResource;
  readonly subresource: string | undefined;
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
}

/**
 * The version of the resource in which a webhook sees an object: that of the request, or another one that its rules name.
 *
 * @param versions - all served resources
 * @returns undefined if the rules do not cover the request
 */
export function reviewedVersion(
  { configuration: { rules, matchPolicy = "Equivalent" } }: Webhook,
  asked: Asked,
  versions: readonly ServedResource[],
): ServedResource | undefined {
  const isCovered = (served: ServedResource): boolean =>
    rules.some((rule) => covers(rule, { ...asked, served }));
  const { served } = asked;
  if (isCovered(served)) return served;
  if (matchPolicy !== "Equivalent") return undefined;
  return versions.find((one) => one.storeKey === served.storeKey && isCovered(one));
}

function covers(rule: WebhookRule, { served, subresource, operation }: Asked): boolean {
  const isIn = (list: readonly string[], value: string): boolean =>
    list.includes("*") || list.includes(value);
  const scope = served.isNamespaced ? "Namespaced" : "Cluster";
  return (
    isIn(rule.operations, operation) &&
    isIn(rule.apiGroups, served.group) &&
    isIn(rule.apiVersions, served.version) &&
    [undefined, "*", scope].includes(rule.scope) &&
    rule.resources.some((resource) => isNamed(resource, served.plural, subresource))
  );
}

/** `*` stands for resources without their subresources, a half of it for all names there. */
function isNamed(resource: string, plural: string, subresource: string | undefined): boolean {
  const [name, below] = resource.split("/");
  const isPlural = name === "*" || name === plural;
  return isPlural && (below === "*" ? true : below === subresource);
}

/** Whether the selector for objects takes the new object or the old one. */
export function selectsObject({ configuration }: Webhook, objects: readonly unknown[]): boolean {
  const requirements = requirementsOf(configuration.objectSelector);
  return requirements.length === 0 || objects.some((one) => meets(requirements, one));
}

/** Whether the selector for namespaces takes a namespace, an object of the cluster, or a Namespace itself. */
export function selectsNamespace(
  { configuration }: Webhook,
  labels: JsonObject | undefined,
): boolean {
  const requirements = requirementsOf(configuration.namespaceSelector);
  return labels === undefined || requirements.every((isMet) => isMet(labels));
}

function meets(requirements: readonly LabelRequirement[], object: unknown): boolean {
  if (!isObject(object)) return false;
  const labels = own(metadataOf(object), "labels");
  return requirements.every((isMet) => isMet(isObject(labels) ? labels : {}));
}

/**
 * Whether the conditions hold. One that is false decides, whatever the others say.
 *
 * @throws Failure if one cannot tell, under the policy `Fail`
 */
export function meetsConditions(
  { configuration: { matchConditions = [], failurePolicy } }: Webhook,
  request: JsonObject,
  subject: { readonly served: ServedResource; readonly name: string },
): boolean {
  const variables = { request, object: request["object"], oldObject: request["oldObject"] };
  const errors: string[] = [];
  for (const { expression } of matchConditions) {
    try {
      if (conditionHolds(expression, variables) === false) return false;
    } catch (error) {
      errors.push(`expression '${expression}' resulted in error: ${(error as Error).message}`);
    }
  }
  if (errors.length === 0) return true;
  if (failurePolicy === "Ignore") return false;
  throw forbidden(subject, errors.join(", "));
}

function forbidden(
  { served, name }: { readonly served: ServedResource; readonly name: string },
  why: string,
): Failure {
  const message = `${qualified(served)} ${JSON.stringify(name)} is forbidden: ${why}`;
  const { group, plural } = served;
  const details = { name, ...(group !== "" && { group }), kind: plural };
  return new Failure(403, { reason: "Forbidden", message, details });
}
