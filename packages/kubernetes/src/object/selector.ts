import { requireOptions, requireString } from "@holdfast/kit";
import { isWellFormed } from "@holdfast/kit/kubernetes";

/**
 * Selects objects by their labels. Every entry must hold.
 *
 * | Value | The label |
 * | --- | --- |
 * | a string | has this value |
 * | an array of strings | has one of these values |
 * | `true` | is there, with any value |
 * | `false` | is not there |
 * | `{ not }` of a string or an array | has none of these values, or is not there |
 *
 * @example
 * ```ts
 * import type { LabelSelector } from "@holdfast/kubernetes";
 *
 * const selector: LabelSelector = { app: "greeter", tier: ["web", "worker"], env: { not: "test" }, legacy: false };
 * console.log(Object.keys(selector).length); // => 4
 * ```
 */
export interface LabelSelector {
  readonly [label: string]:
    | string
    | readonly string[]
    | boolean
    | {
        /** The values that it must not have. */
        readonly not: string | readonly string[];
      };
}

/**
 * Selects objects by fields, for example `{ "metadata.name": "ann" }`, or `{ "status.phase": { not: "Running" } }` for
 * any other value. The server knows a few per kind.
 */
export interface FieldSelector {
  readonly [field: string]:
    | string
    | {
        /** The value that it must not have. */
        readonly not: string;
      };
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
      const isNegative = isNegation(value);
      const text = isNegative ? value.not : value;
      requireString(`fields["${field}"]`, text);
      if (!isWellFormed(text))
        throw new RangeError(`fields["${field}"] must be well-formed, got half a surrogate pair`);
      // As EscapeValue of k8s.io/apimachinery/pkg/fields.
      return `${field}${isNegative ? "!=" : "="}${text.replace(/[\\,=]/g, "\\$&")}`;
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
    return isNegation(wanted) ? !isOneOf(wanted.not, value) : isOneOf(wanted, value);
  });
}

/** Whether a field has the wanted value. Both are checked elsewhere. */
export function matchesField(wanted: FieldSelector[string], value: string): boolean {
  return isNegation(wanted) ? value !== wanted.not : value === wanted;
}

function isOneOf(wanted: string | readonly string[], value: string | undefined): boolean {
  return value !== undefined && (typeof wanted === "string" ? [wanted] : wanted).includes(value);
}

function isNegation<Value>(wanted: Value): wanted is Extract<Value, { not: unknown }> {
  return typeof wanted === "object" && wanted !== null && Object.keys(wanted).join() === "not";
}

function requirement(label: string, value: LabelSelector[string]): string {
  if (!NAME.test(label.replace(PREFIX, "")))
    throw new RangeError(
      `labels must have names such as "app" or "example.org/app", got ${JSON.stringify(label)}`,
    );
  if (typeof value === "boolean") return value ? label : `!${label}`;
  const isNegative = isNegation(value);
  const wanted = isNegative ? value.not : value;
  if (typeof wanted === "string")
    return `${label}${isNegative ? "!=" : "="}${requireValue(label, wanted)}`;
  if (!Array.isArray(wanted) || wanted.length === 0)
    throw new TypeError(
      `labels["${label}"] must be a string, an array of at least one string, a boolean, or { not } of a string or an array`,
    );
  const values = (wanted as readonly string[]).map((one) => requireValue(label, one));
  return `${label} ${isNegative ? "notin" : "in"} (${values.sort().join(",")})`;
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
