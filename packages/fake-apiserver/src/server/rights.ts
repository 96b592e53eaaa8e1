import { appendFileSync } from "node:fs";
import { requireArray, requireOptions, requireText, requireWord } from "@holdfast/kit";
import { defined } from "../object/json.ts";
import { Failure } from "./failure.ts";

/** A rule of a Role or ClusterRole. A `*` stands for all. */
export interface PolicyRule {
  /** Groups of the API; `""` is that of ConfigMaps and Pods. */
  readonly apiGroups?: readonly string[] | undefined;

  /** Plurals, with a subresource after a slash: `pods`, `pods/status`. */
  readonly resources?: readonly string[] | undefined;

  /** Names of the objects. Default: all. A request without a name, as a create, needs a rule without names. */
  readonly resourceNames?: readonly string[] | undefined;

  /** Verbs, as in the audit log: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs: readonly string[];

  /** Paths besides those of resources. A `*` at the end stands for the rest. */
  readonly nonResourceURLs?: readonly string[] | undefined;
}

/** A Role or a ClusterRole, as parsed from its manifest. */
export interface RoleManifest {
  /** `"Role"` or `"ClusterRole"`. */
  readonly kind: string;

  /** A Role has a namespace. */
  readonly metadata?: { readonly namespace?: string | undefined } | undefined;

  /** The rules. */
  readonly rules?: readonly PolicyRule[] | null | undefined;
}

/** A request, as rules see it. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;

  /** Plural of the resource. Empty for a path besides resources. */
  readonly plural: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;

  /** Name of the object. Empty for none. */
  readonly name: string;

  /** Path without its query. */
  readonly path: string;
}

/** A rule, and the namespace in which it holds. */
interface Grant {
  readonly rule: PolicyRule;

  /** Undefined: all, and the cluster. */
  readonly namespace: string | undefined;
}

/** The caller in messages: a service account. */
const USER = "system:serviceaccount:default:operator";

/** Paths that every caller may read: those by which clients learn the resources, and the health of the server. */
const PUBLIC = /^\/(apis?(\/[^/]*){0,2}|version|openapi\/.*|healthz|livez|readyz)\/?$/;

/** The rights of the clients, and the rights that their requests needed. */
export class Rights {
  readonly #grants: readonly Grant[] | undefined;

  /** The requests so far, each kind once, without names that no rule tells apart. */
  readonly #used = new Map<string, Attributes>();

  /** Those of them that no rule allows. */
  readonly #refused = new Map<string, Attributes>();

  /**
   * @param rules - undefined: everything is allowed
   * @throws RangeError or TypeError that names the option
   */
  constructor(rules: readonly (PolicyRule | RoleManifest)[] | undefined) {
    this.#grants = rules?.flatMap((rule, index) => grantsOf(rule, `options.rules[${index}]`));
  }

  /**
   * Records a request.
   *
   * @throws Failure if no rule allows it
   */
  require(wanted: Attributes): void {
    if (wanted.plural === "" && PUBLIC.test(wanted.path)) return;
    const key = this.#note(wanted);
    // An Event that happens again is patched, which few tests wait for.
    if (isNewEvent(wanted)) this.#note({ ...wanted, verb: "patch" });
    if (this.#grants?.some((grant) => allows(grant, wanted)) !== false) return;
    this.#refused.set(key, wanted);
    throw forbidden(wanted);
  }

  #note(wanted: Attributes): string {
    const { verb, group, plural, subresource, namespace, name, path } = wanted;
    const parts = [verb, group, plural, subresource, namespace, name, plural === "" ? path : ""];
    const key = parts.join(" ");
    this.#used.set(key, wanted);
    record({ namespace, rule: ruleFor(wanted) });
    return key;
  }

  /** The least list of rules that allows the requests so far. */
  used(): PolicyRule[] {
    return mergeRules([...this.#used.values()].map(ruleFor));
  }

  /** The least list of rules that allows the requests that were refused. */
  missing(): PolicyRule[] {
    return mergeRules([...this.#refused.values()].map(ruleFor));
  }

  /** The parts of the rules that no request has needed. */
  unused(): PolicyRule[] {
    const used = [...this.#used.values()];
    return ruleList(
      (this.#grants ?? []).flatMap(({ rule, namespace }) =>
        partsOf(rule).filter((part) => {
          const own = { namespace, rule: ruleOf([part], [part.resource], [part.verb]) };
          return !used.some((wanted) => allows(own, wanted));
        }),
      ),
    );
  }
}

function isNewEvent({ verb, group, plural }: Attributes): boolean {
  return verb === "create" && group === "events.k8s.io" && plural === "events";
}

/** The least list of rules that grants the same as all of these. */
export function mergeRules(rules: readonly PolicyRule[]): PolicyRule[] {
  return [...ruleList(rules.flatMap(partsOf)), ...pathRules(rules)];
}

/** A rule that a request needed, as a line of the file that `HOLDFAST_RULES` names. */
export interface RecordedRule {
  /** Absent: a request for the cluster, or for all namespaces. */
  readonly namespace?: string | undefined;

  readonly rule: PolicyRule;
}

/** Lines that this process has appended, with their file. */
const recorded = new Set<string>();

/** Appends a rule to the file that `HOLDFAST_RULES` names, once per process. Short lines of many processes do not mix. */
function record(rule: RecordedRule): void {
  const file = process.env["HOLDFAST_RULES"];
  if (file === undefined || file === "") return;
  const line = `${JSON.stringify(rule)}\n`;
  if (recorded.has(file + line)) return;
  recorded.add(file + line);
  appendFileSync(file, line);
}

function grantsOf(given: PolicyRule | RoleManifest, label: string): Grant[] {
  requireOptions(label, given);
  if (!("kind" in given)) return [{ rule: requireRule(label, given), namespace: undefined }];
  const { kind, metadata, rules } = given;
  requireWord(`${label}.kind`, kind, "Role", "ClusterRole");
  const namespace = kind === "Role" ? metadata?.namespace : undefined;
  if (kind === "Role") requireText(`${label}.metadata.namespace`, namespace);
  requireArray(`${label}.rules`, rules ?? []);
  return (rules ?? []).map((rule, index) => ({
    rule: requireRule(`${label}.rules[${index}]`, rule),
    namespace,
  }));
}

const LISTS = ["apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const;

function requireRule(label: string, rule: PolicyRule): PolicyRule {
  requireOptions(label, rule);
  requireArray(`${label}.verbs`, rule.verbs);
  for (const name of LISTS)
    if (rule[name] !== undefined) requireArray(`${label}.${name}`, rule[name]);
  return rule;
}

function allows({ rule, namespace }: Grant, wanted: Attributes): boolean {
  if (namespace !== undefined && namespace !== wanted.namespace) return false;
  if (!includes(rule.verbs, wanted.verb)) return false;
  if (wanted.plural !== "") return coversResource(rule, wanted);
  return rule.nonResourceURLs?.some((pattern) => covers(pattern, wanted.path)) === true;
}

function coversResource(rule: PolicyRule, wanted: Attributes): boolean {
  const { apiGroups = [], resources = [], resourceNames = [] } = rule;
  const isNamed = resourceNames.length === 0 || resourceNames.includes(wanted.name);
  const isListed =
    includes(resources, resourceOf(wanted)) || resources.includes(`*/${wanted.subresource}`);
  return isNamed && isListed && includes(apiGroups, wanted.group);
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function covers(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** The resource as rules name it: `pods/status`. */
function resourceOf({ plural, subresource }: Pick<Attributes, "plural" | "subresource">): string {
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

function forbidden(wanted: Attributes): Failure {
  const { verb, group, plural, namespace, name, path } = wanted;
  const who = `User ${JSON.stringify(USER)} cannot ${verb}`;
  if (plural === "") {
    const message = `forbidden: ${who} path ${JSON.stringify(path)}`;
    return new Failure(403, { reason: "Forbidden", message, details: {} });
  }
  const subject = group === "" ? plural : `${plural}.${group}`;
  const named = name === "" ? subject : `${subject} ${JSON.stringify(name)}`;
  const where =
    namespace === undefined
      ? "at the cluster scope"
      : `in the namespace ${JSON.stringify(namespace)}`;
  const message = `${named} is forbidden: ${who} resource ${JSON.stringify(resourceOf(wanted))} in API group ${JSON.stringify(group)} ${where}`;
  const details = defined({ name: name || undefined, group: group || undefined, kind: plural });
  return new Failure(403, { reason: "Forbidden", message, details });
}

/** One verb on one resource. */
interface Part {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[];
}

/** The rule for one request, without its name: rules with names are for people to write. */
function ruleFor({ verb, group, plural, path, subresource }: Attributes): PolicyRule {
  if (plural === "") return { nonResourceURLs: [path], verbs: [verb] };
  const resource = resourceOf({ plural, subresource });
  return { apiGroups: [group], resources: [resource], verbs: [verb] };
}

function partsOf({
  apiGroups = [],
  resources = [],
  resourceNames = [],
  verbs,
}: PolicyRule): Part[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => ({ group, resource, verb, names: resourceNames })),
    ),
  );
}

/** Rules for parts: resources of one group with the same verbs share a rule. Everything is sorted. */
function ruleList(parts: readonly Part[]): PolicyRule[] {
  const byResource = groupBy(parts, ({ group, resource, names }) => [group, names, resource]);
  const resources = byResource.map((own) => ({
    parts: own,
    verbs: [...new Set(own.map(({ verb }) => verb))].sort(),
  }));
  const rules = groupBy(resources, ({ parts: [part], verbs }) => [part?.group, part?.names, verbs]);
  return rules
    .map((own) => {
      const all = own.flatMap((one) => one.parts);
      return ruleOf(
        all,
        all.map(({ resource }) => resource),
        own[0]?.verbs ?? [],
      );
    })
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function ruleOf(
  [first]: readonly Part[],
  resources: readonly string[],
  verbs: readonly string[],
): PolicyRule {
  const { group = "", names = [] } = first ?? {};
  return {
    apiGroups: [group],
    resources: [...new Set(resources)].sort(),
    ...(names.length > 0 && { resourceNames: names }),
    verbs,
  };
}

/** Rules for paths: those with the same verbs share a rule. */
function pathRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const byPath = new Map<string, Set<string>>();
  for (const { nonResourceURLs = [], verbs } of rules)
    for (const path of nonResourceURLs)
      byPath.set(path, new Set([...(byPath.get(path) ?? []), ...verbs]));
  const paths = [...byPath].sort().map(([path, verbs]) => ({ path, verbs: [...verbs].sort() }));
  return groupBy(paths, ({ verbs }) => verbs).map((own) => ({
    nonResourceURLs: own.map(({ path }) => path),
    verbs: own[0]?.verbs ?? [],
  }));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => unknown): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = JSON.stringify(keyOf(item));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
