import { requireOptions, requireText } from "../arguments.ts";
import { type Kind, kind } from "../kinds.ts";

// RFC 1123: names, namespaces and labels of DNS.
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// RFC 1035: the same, but for the first letter.
const VERSION = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
// A label, which may have capitals.
const KIND = /^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

/** @throws RangeError if `value` is not an API version such as `v1` or `apps/v1` */
export function requireApiVersion(name: string, value: string): void {
  requireText(name, value);
  const [last, group, ...more] = value.split("/").reverse();
  const isGroup = group === undefined || (group.length <= 253 && group.split(".").every(isLabel));
  if (more.length > 0 || !isGroup || !VERSION.test(last as string))
    refuse(name, 'an API version such as "v1" or "apps/v1"', value);
}

/** @throws RangeError if `value` is not a kind such as `ConfigMap` */
export function requireKind(name: string, value: string): void {
  requireText(name, value);
  if (!KIND.test(value)) refuse(name, 'a kind such as "ConfigMap"', value);
}

/** @throws RangeError if `value` is not a plural such as `configmaps` */
export function requirePlural(name: string, value: string): void {
  requireText(name, value);
  if (!isLabel(value)) refuse(name, 'a plural in lower case such as "configmaps"', value);
}

/** @throws RangeError if `value` is not a namespace */
export function requireNamespace(name: string, value: string): void {
  requireText(name, value);
  if (!isLabel(value))
    refuse(name, "a namespace: at most 63 of a-z, 0-9 and -, no - at either end", value);
}

export const namespaceName: Kind = kind("namespaceName", requireNamespace);

/**
 * Checks the name of an object, or of a subresource, as a segment of a path. Kinds have rules of their own
 * (some allow `:` and capitals), which the server checks.
 *
 * @throws RangeError if `value` is no such segment
 */
export function requireSegment(name: string, value: string): void {
  requireText(name, value);
  // As IsValidPathSegmentName of k8s.io/apimachinery.
  const isPath = value === "." || value === ".." || /[/%]/.test(value);
  if (isPath || value.length > 253 || !isWellFormed(value))
    refuse(name, 'a name: at most 253 characters, no "/" and no "%", not "." or ".."', value);
}

export const segment: Kind = kind("segment", requireSegment);

/** Whether a text can be sent in UTF-8: without half a surrogate pair. */
export function isWellFormed(value: string): boolean {
  return !/\p{Surrogate}/u.test(value);
}

function isLabel(value: string): boolean {
  return LABEL.test(value);
}

function refuse(name: string, allowed: string, value: string): never {
  throw new RangeError(`${name} must be ${allowed}, got ${JSON.stringify(value.slice(0, 300))}`);
}

/** The names of a `Resource` of `@holdfast/kubernetes`. */
interface ResourceNames {
  readonly apiVersion: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
}

/** @throws TypeError if `resource` was not made by `customResource`, `fromCrd` or `builtIn` */
export function requireResource(resource: ResourceNames, name = "resource"): void {
  requireOptions(name, resource);
  for (const part of ["apiVersion", "kind", "plural"] as const)
    requireText(`${name}.${part}`, resource[part]);
}

/** Name of a resource in metrics, logs and sources: its plural, with its group if it has one. */
export function resourceName({ plural, group }: ResourceNames): string {
  return group === "" ? plural : `${plural}.${group}`;
}
