import { badRequest } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, own, valueAt } from "../json.ts";
import type { ApiCall } from "./api-call.ts";

/** Whether an object is selected. */
export type Selector = (object: JsonObject) => boolean;

/** The namespace, labels and fields that a list or a watch asks for. */
export function selectorOf({ namespace, query, served }: ApiCall): Selector {
  const labels = parseLabels(query.get("labelSelector") ?? "");
  const fields = parseFields(query.get("fieldSelector") ?? "", served.selectable);
  return (object) => {
    const metadata = metadataOf(object);
    if (namespace !== undefined && metadata["namespace"] !== namespace) return false;
    const found = own(metadata, "labels");
    const own_ = isObject(found) ? found : {};
    return labels.every((matches) => matches(own_)) && fields.every((matches) => matches(object));
  };
}

/** Whether a list or a watch asks for all objects of the namespace. */
export function selectsAll({ query }: ApiCall): boolean {
  return !query.get("labelSelector") && !query.get("fieldSelector");
}

type Requirement = (values: JsonObject) => boolean;

const KEY = "[A-Za-z0-9][-A-Za-z0-9_./]*";
const VALUE = "[-A-Za-z0-9_.]*";
const FORMS: readonly (readonly [RegExp, (match: readonly string[]) => Requirement])[] = [
  [new RegExp(`^(${KEY})\\s*(?:==|=)\\s*(${VALUE})$`), ([, key, value]) => isOneOf(key, [value])],
  [new RegExp(`^(${KEY})\\s*!=\\s*(${VALUE})$`), ([, key, value]) => not(isOneOf(key, [value]))],
  [new RegExp(`^(${KEY})\\s+in\\s*\\(([^()]*)\\)$`), ([, key, list]) => isOneOf(key, split(list))],
  [
    new RegExp(`^(${KEY})\\s+notin\\s*\\(([^()]*)\\)$`),
    ([, key, list]) => not(isOneOf(key, split(list))),
  ],
  [
    new RegExp(`^(${KEY})\\s*([<>])\\s*(\\d+)$`),
    ([, key, operator, limit]) => isBeyond(key, operator === ">" ? 1 : -1, Number(limit)),
  ],
  [new RegExp(`^!\\s*(${KEY})$`), ([, key]) => not(isThere(key))],
  [new RegExp(`^(${KEY})$`), ([, key]) => isThere(key)],
];

/**
 * Reads `labelSelector`: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a > 1`, `a < 1`, `a`, `!a`, parted by
 * commas.
 *
 * @throws Failure for other text
 */
function parseLabels(text: string): Requirement[] {
  if (text.trim() === "") return [];
  // Commas within brackets part values.
  return text.split(/,(?![^(]*\))/).map((part) => {
    for (const [form, make] of FORMS) {
      const match = form.exec(part.trim());
      if (match !== null) return make(match);
    }
    throw badRequest(`unable to parse requirement: ${JSON.stringify(part)}`);
  });
}

/**
 * Reads `fieldSelector`: of the name, the namespace and the fields that the manifest names.
 *
 * @throws Failure for other fields and other text
 */
function parseFields(text: string, selectable: readonly string[]): Requirement[] {
  if (text.trim() === "") return [];
  return text.split(/(?<!\\),/).map((part) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part.trim());
    if (match === null)
      throw badRequest(`invalid selector: ${JSON.stringify(part)}; can't understand it`);
    const [, field = "", operator, escaped = ""] = match;
    if (!/^metadata\.(name|namespace)$/.test(field) && !selectable.includes(field))
      throw badRequest(`field label not supported: ${field}`);
    const names = field.split(".");
    const value = escaped.replace(/\\([\\,=])/g, "$1");
    const matches = (object: JsonObject): boolean => String(valueAt(object, names) ?? "") === value;
    return operator === "!=" ? not(matches) : matches;
  });
}

function isOneOf(key = "", values: readonly (string | undefined)[]): Requirement {
  return (labels) => Object.hasOwn(labels, key) && values.includes(labels[key] as string);
}

/** Whether a label is an integer above `limit`, or below it with the sign -1. */
function isBeyond(key = "", sign: 1 | -1, limit: number): Requirement {
  return (labels) => {
    const value = own(labels, key);
    return typeof value === "string" && /^-?\d+$/.test(value) && sign * (Number(value) - limit) > 0;
  };
}

function isThere(key = ""): Requirement {
  return (labels) => Object.hasOwn(labels, key);
}

function not(requirement: Requirement): Requirement {
  return (values) => !requirement(values);
}

function split(list = ""): string[] {
  return list.split(",").map((value) => value.trim());
}
