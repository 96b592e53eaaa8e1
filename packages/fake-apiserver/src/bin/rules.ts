import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { requireNamespace, requireSegment } from "@holdfast/kit/kubernetes";
import { type Output, optional, requirePositionals, textOf } from "@holdfast/kit/node";
import { mergeRules, type PolicyRule, type RecordedRule } from "../server/rights.ts";

const WHERE = `# For the namespace of the operator: kubectl apply --namespace NAMESPACE, or name it to this command as --namespace.
`;

/** `rules FILE... [--name NAME] [--namespace NAMESPACE]` */
export async function rules(args: string[], { print }: Output): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { name: { type: "string", default: "operator" }, namespace: { type: "string" } },
  });
  const { name, namespace } = values;
  requirePositionals("FILE", positionals);
  requireSegment("--name", name);
  if (namespace !== undefined) requireNamespace("--namespace", namespace);
  const { stringify } = await optional("yaml", import("yaml"), "--save-dev ");
  const recorded = positionals.flatMap(recordedIn);
  const roles = rolesFor(recorded, { name, namespace });
  const texts = roles.map((role) => {
    const isAnywhere = role.kind === "Role" && namespace === undefined;
    return `${isAnywhere ? WHERE : ""}${stringify(role)}`;
  });
  print(texts.join("---\n"));
  return 0;
}

function recordedIn(file: string): RecordedRule[] {
  if (!existsSync(file))
    throw new Error(`${file} cannot be read; run the tests with HOLDFAST_RULES=${file} first`);
  const text = textOf(file, { pipes: true });
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

/** A manifest. */
interface Role {
  readonly apiVersion: string;
  readonly kind: "ClusterRole" | "Role";
  readonly metadata: object;
  readonly rules: readonly PolicyRule[];
}

interface RoleOptions {
  readonly name: string;

  /** Namespace of the operator. Undefined: rights are for all namespaces, but for those on Leases. */
  readonly namespace: string | undefined;
}

/**
 * The roles with rules. A right needed in the namespace and elsewhere is in the ClusterRole alone. A Lease that was asked
 * for in a namespace is one of an election: whoever may write those of all namespaces can depose any leader, so that right
 * is in the Role, whichever namespace a test has elected in.
 */
function rolesFor(recorded: readonly RecordedRule[], { name, namespace }: RoleOptions): Role[] {
  const isOwn = (one: RecordedRule) =>
    one.namespace !== undefined && (one.namespace === namespace || isOfLeases(one.rule));
  const outside = recorded.filter((one) => !isOwn(one)).map(({ rule }) => rule);
  const known = new Set(outside.map((rule) => JSON.stringify(rule)));
  const own = recorded.filter(isOwn).map(({ rule }) => rule);
  return [
    roleOf("ClusterRole", { name }, outside),
    roleOf(
      "Role",
      { name, namespace },
      own.filter((rule) => !known.has(JSON.stringify(rule))),
    ),
  ].flat();
}

function isOfLeases({ apiGroups = [], resources = [] }: PolicyRule): boolean {
  return apiGroups.includes("coordination.k8s.io") && resources.includes("leases");
}

function roleOf(kind: Role["kind"], metadata: object, granted: readonly PolicyRule[]): Role[] {
  if (granted.length === 0) return [];
  const apiVersion = "rbac.authorization.k8s.io/v1";
  return [{ apiVersion, kind, metadata, rules: mergeRules(granted) }];
}
