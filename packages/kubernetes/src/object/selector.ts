import { requireOptions, requireString } from "@holdfast/clock/internal";
import { isWellFormed } from "./resource-name.ts";

/**
 * Selects objects by their labels. Every entry must hold.
 *
 * | Value | The label |
 * | --- | --- |
 * | a string | has this value |
 * | an array of strings | has one of these values |
 * | `true` | is there, with any value |
 * | `false` | is not there |
 *
 * @example
 * ```ts
 * import type { LabelSelector } from "@holdfast/kubernetes";
 *
 * const selector: LabelSelector = { app: "greeter", tier: ["web", "worker"], legacy: false };
 * console.log(Object.keys(selector).length); // => 3
 * ```
 */
export interface LabelSelector {
  readonly [label: string]: string | readonly string[] | boolean;
}

/** Selects objects by fields, for example `{ "metadata.name": "ann" }`. The server knows a few per kind. */
export interface FieldSelector {
  readonly [field: string]: string;
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\//;
const FIELD = /^[A-Za-z0-9._[\]-]{1,253}$/;

/**
 * The selector as the parameter `labelSelector` of a request, in a stable order.
 *
 * @throws TypeError or RangeError for a label or a value that Kubernetes does not allow
 */
export function formatLabels(selector: LabelSelector): string {
  requireOptions("labels", selector);
  return Object.entries(selector)
    .sort(byKey)
    .map(([label, value]) => requirement(label, value))
    .join(",");
}

/**
 * The selector as the parameter `fieldSelector` of a request, in a stable order.
 *
 * @throws TypeError or RangeError for a field that no kind can have, or a value that is not a string
 */
export function formatFields(selector: FieldSelector): string {
  requireOptions("fields", selector);
  return Object.entries(selector)
    .sort(byKey)
    .map(([field, value]) => {
      if (!FIELD.test(field))
        throw new RangeError(
          `fields must have names such as "metadata.name", got ${JSON.stringify(field)}`,
        );
      requireString(`fields["${field}"]`, value);
      if (!isWellFormed(value))
        throw new RangeError(`fields["${field}"] must be well-formed, got half a surrogate pair`);
      // As EscapeValue of k8s.io/apimachinery/pkg/fields.
      return `${field}=${value.replace(/[\\,=]/g, "\\$&")}`;
    })
    .join(",");
}

/** Whether the labels of an object match. Both are checked elsewhere. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.entries(selector).every(([label, wanted]) => {
    const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (typeof wanted === "boolean") return (value !== undefined) === wanted;
    if (typeof wanted === "string") return value === wanted;
    return value !== undefined && wanted.includes(value);
  });
}

function requirement(label: string, value: LabelSelector[string]): string {
  if (!NAME.test(label.replace(PREFIX, "")))
    throw new RangeError(
      `labels must have names such as "app" or "example.org/app", got ${JSON.stringify(label)}`,
    );
  if (typeof value === "boolean") return value ? label : `!${label}`;
  if (typeof value === "string") return `${label}=${requireValue(label, value)}`;
  if (!Array.isArray(value) || value.length === 0)
    throw new TypeError(
      `labels["${label}"] must be a string, an array of at least one string, or a boolean`,
    );
  const values = (value as readonly string[]).map((one) => requireValue(label, one));
  return `${label} in (${values.sort().join(",")})`;
}

function requireValue(label: string, value: string): string {
  requireString(`labels["${label}"]`, value);
  if (value === "" || NAME.test(value)) return value;
  throw new RangeError(
    `labels["${label}"] must be at most 63 of A-Z, a-z, 0-9, -, _ and ., with a letter or digit at either end, got ${JSON.stringify(value.slice(0, 300))}`,
  );
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
