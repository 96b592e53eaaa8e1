import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import {
  loadOptional,
  type Result,
  requireNamespace,
  requirePositionals,
  requireSegment,
} from "@holdfast/kubernetes/internal";
import {
  EXPLORED_NAMESPACE,
  mergeRules,
  type PolicyRule,
  type RecordedRule,
} from "../server/rights.ts";

/** `rules FILE... [--name NAME] [--namespace NAMESPACE]` */
export async function rules(args: string[]): Promise<Result> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { name: { type: "string", default: "operator" }, namespace: { type: "string" } },
  });
  const { name, namespace } = values;
  requirePositionals("FILE", positionals);
  requireSegment("--name", name);
  if (namespace !== undefined) requireNamespace("--namespace", namespace);
  const { stringify } = await loadOptional("yaml", import("yaml"));
  const recorded = (await Promise.all(positionals.map(recordedIn))).flat();
  const roles = rolesFor(recorded, { name, namespace });
  return { output: roles.map((role) => stringify(role)).join("---\n"), code: 0 };
}

async function recordedIn(file: string): Promise<RecordedRule[]> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new Error(`${file} cannot be read; run the tests with HOLDFAST_RULES=${file} first`);
  });
  const recorded = text.split("\n").flatMap((line, index) => {
    return line === "" ? [] : [recordedRule(line, `${file} line ${index + 1}`)];
  });
  if (recorded.length === 0) throw new Error(`${file} has no rules`);
  return recorded;
}

function recordedRule(line: string, place: string): RecordedRule {
  try {
    const recorded: RecordedRule = JSON.parse(line);
    if (Array.isArray(recorded.rule.verbs)) return recorded;
  } catch {
    // As below.
  }
  throw new Error(`${place} is not a rule that FakeApi has recorded`);
}

interface RoleOptions {
  readonly name: string;

  /** Undefined: one ClusterRole for everything. */
  readonly namespace: string | undefined;
}

/** The roles with rules. A right needed in the namespace and elsewhere is in the ClusterRole alone. */
function rolesFor(recorded: readonly RecordedRule[], { name, namespace }: RoleOptions): object[] {
  const inside = [namespace, EXPLORED_NAMESPACE];
  const isOutside = (one: RecordedRule) =>
    namespace === undefined || one.namespace === undefined || !inside.includes(one.namespace);
  const outside = recorded.filter(isOutside).map(({ rule }) => rule);
  const known = new Set(outside.map((rule) => JSON.stringify(rule)));
  const others = recorded
    .map(({ rule }) => rule)
    .filter((rule) => !known.has(JSON.stringify(rule)));
  return [
    roleOf("ClusterRole", { name }, outside),
    roleOf("Role", { name, namespace }, others),
  ].flat();
}

function roleOf(kind: string, metadata: object, granted: readonly PolicyRule[]): object[] {
  if (granted.length === 0) return [];
  const apiVersion = "rbac.authorization.k8s.io/v1";
  return [{ apiVersion, kind, metadata, rules: mergeRules(granted) }];
}
