import type { Cause } from "../../object/cause.ts";
import { badRequest } from "../failure.ts";
import { invalidOptions, notSupported } from "../write/write-options.ts";

/**
 * Checks the parameters of a list or a watch that depend on each other.
 *
 * @throws Failure with a cause for each that does not fit
 */
export function requireListOptions(query: URLSearchParams, verb: "list" | "watch"): void {
  const causes = [...(verb === "list" ? listCauses(query) : watchCauses(query))];
  if (causes.length > 0) throw invalidOptions("ListOptions", causes);
}

const MATCH = "resourceVersionMatch";
const INITIAL = "sendInitialEvents";

function* listCauses(query: URLSearchParams): Generator<Cause> {
  const match = query.get(MATCH) ?? "";
  if (match !== "") yield* matchCauses(query, match);
  if (query.has(INITIAL)) yield forbidden(INITIAL, "sendInitialEvents is forbidden for list");
}

function* matchCauses(query: URLSearchParams, match: string): Generator<Cause> {
  const version = query.get("resourceVersion") ?? "";
  if (version === "")
    yield forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (query.get("continue")) yield WITH_CONTINUE;
  if (match !== "Exact" && match !== "NotOlderThan")
    yield notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]);
  if (match === "Exact" && version === "0")
    yield forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}

function* watchCauses(query: URLSearchParams): Generator<Cause> {
  const match = query.get(MATCH) ?? "";
  const isInitial = query.has(INITIAL);
  if (isInitial && match !== "NotOlderThan")
    yield forbidden(
      MATCH,
      "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    );
  if (match !== "") {
    if (!isInitial)
      yield forbidden(
        MATCH,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      );
    if (match !== "NotOlderThan") yield notSupported(MATCH, match, ["NotOlderThan"]);
  }
  if (query.get("continue")) yield WITH_CONTINUE;
}

function forbidden(field: string, text: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${text}`, field };
}

const WITH_CONTINUE = forbidden(
  MATCH,
  "resourceVersionMatch is forbidden when continue is provided",
);

/** An integer in a query; 0 for none. @throws Failure for other text */
export function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null) return 0;
  if (!/^[+-]?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** What is wrong with a version in a query; undefined for nothing. Empty and "0" are 0. */
export function versionProblem(text: string): string | undefined {
  if (/^\d{0,15}$/.test(text)) return undefined;
  const shown = JSON.stringify(text);
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`;
}
