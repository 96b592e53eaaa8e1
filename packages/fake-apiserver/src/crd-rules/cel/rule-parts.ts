// The parts of a rule besides its expressions.
import { isObject, type JsonObject, own, propertiesOf } from "../../object/json.ts";

/** How the message of a cause begins, by its reason. */
export const PREFIXES: Readonly<Record<string, (shown: string) => string>> = {
  FieldValueInvalid: (shown) => `Invalid value: ${shown}`,
  FieldValueForbidden: () => "Forbidden: ",
  FieldValueRequired: () => "Required value: ",
  FieldValueDuplicate: (shown) => `Duplicate value: ${shown}`,
};

/** The reason for which a server refuses a rule, besides its expressions. Undefined: it does not. */
export function partProblem(rule: JsonObject, schema: JsonObject): string | undefined {
  const { rule: text, reason, fieldPath, optionalOldSelf } = rule;
  if (typeof text !== "string" || text.trim() === "") return "rule is not specified";
  if (reason !== undefined && !Object.hasOwn(PREFIXES, String(reason)))
    return `its reason must be one of ${Object.keys(PREFIXES).join(", ")}`;
  if (optionalOldSelf === true && !/\boldSelf\b/.test(text))
    return "optionalOldSelf needs oldSelf in the rule";
  if (typeof fieldPath === "string" && !isPath(schema, fieldPath))
    return `its fieldPath must be the path of a field, got ${JSON.stringify(fieldPath)}`;
  return messageProblem(rule, text.trim());
}

function messageProblem(
  { message, messageExpression }: JsonObject,
  rule: string,
): string | undefined {
  if (!message)
    return /[\r\n]/.test(rule) && !messageExpression
      ? "it needs a message, because it has line breaks"
      : undefined;
  if (String(message).trim() === "") return "its message must not be blank";
  return /[\r\n]/.test(String(message)) ? "its message must not have line breaks" : undefined;
}

const STEP = /\.([A-Za-z_]\w*)|\['([^']*)'\]/y;

/** Whether a path such as `.a['b-c']` leads to a field of a schema. */
function isPath(schema: JsonObject, path: string): boolean {
  let found: unknown = schema;
  let end = 0;
  for (const step of path.matchAll(new RegExp(STEP, "gy"))) {
    if (!isObject(found)) return false;
    const [whole, plain, quoted] = step;
    found = own(propertiesOf(found), plain ?? quoted ?? "") ?? own(found, "additionalProperties");
    end += whole.length;
  }
  return end === path.length && isObject(found);
}
