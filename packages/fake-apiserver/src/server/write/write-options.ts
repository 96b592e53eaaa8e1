import type { Manager } from "../../managed-fields/managers.ts";
import { type Cause, wrong } from "../../object/cause.ts";
import { type Failure, invalid } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { isTrue } from "../request/route.ts";

/** Parameters that every write understands. */
export interface WriteOptions {
  readonly isDryRun: boolean;

  /** Owner of the fields that the write sets. */
  readonly manager: string;

  /** Whether an apply takes fields over that others own. */
  readonly force: boolean;

  /** Treatment of unknown fields in a write. */
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";

  /** The owners of all fields after the write. Default: the fields that change get the manager. */
  readonly managers?: readonly Manager[];
}

/** The kinds of parameters, as failures name them. */
export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/**
 * Reads the parameters of a write.
 *
 * @param isApply - whether the write is a server-side apply
 * @throws Failure for values that the server does not know
 */
export function writeOptionsOf(
  { query, headers }: ApiCall,
  kind: OptionsKind,
  isApply = false,
): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const manager = query.get("fieldManager");
  const fieldValidation = query.get("fieldValidation") || "Warn";
  const causes = [
    ...(dryRun.every((value) => value === "All") ? [] : [notSupported("dryRun", dryRun, ["All"])]),
    ...managerCauses(manager, isApply),
    ...(VALIDATIONS.includes(fieldValidation)
      ? []
      : [notSupported("fieldValidation", fieldValidation, VALIDATIONS)]),
    ...(query.has("force") && kind === "PatchOptions" && !isApply ? [FORBIDDEN_FORCE] : []),
  ];
  if (causes.length > 0) throw invalidOptions(kind, causes);
  return {
    isDryRun: dryRun.length > 0,
    manager: manager || managerOf(headers["user-agent"]),
    force: isTrue(query.get("force")),
    fieldValidation: fieldValidation as WriteOptions["fieldValidation"],
  };
}

const VALIDATIONS: readonly string[] = ["", "Ignore", "Strict", "Warn"];

const FORBIDDEN_FORCE: Cause = {
  reason: "FieldValueForbidden",
  message: "Forbidden: may not be specified for non-apply patch",
  field: "force",
};

/** Longest name of a manager. */
const MAX_MANAGER = 128;

/** Letters that the name of a manager must not have. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

function managerCauses(manager: string | null, isApply: boolean): Cause[] {
  const field = "fieldManager";
  if (!manager)
    return isApply
      ? [
          {
            reason: "FieldValueRequired",
            message: "Required value: is required for apply patch",
            field,
          },
        ]
      : [];
  if (manager.length > MAX_MANAGER) {
    const message = `Too long: may not be more than ${MAX_MANAGER} bytes`;
    return [{ reason: "FieldValueTooLong", message, field }];
  }
  return [...manager.matchAll(UNPRINTABLE)].slice(0, 1).map(({ 0: letter, index }) => {
    const code = letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return wrong(field, manager, `invalid character U+${code} (at position ${index})`);
  });
}

/** A failure about the parameters of a request. */
export function invalidOptions(kind: string, causes: readonly Cause[]): Failure {
  return invalid({ group: "meta.k8s.io", plural: kind }, "", causes);
}

/** A value that is none of those that a parameter may have. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): Cause {
  const list = supported.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return { reason: "FieldValueNotSupported", message, field };
}

function managerOf(userAgent = ""): string {
  return (userAgent.split("/")[0] as string).slice(0, 128) || "unknown";
}
