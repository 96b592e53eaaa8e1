import {
  between,
  func,
  type Kinds,
  kind,
  requireArray,
  requireOptions,
  requireText,
} from "@holdfast/kit";
import { resourceName } from "@holdfast/kit/kubernetes";
import { isBuiltInVersion } from "../object/built-in.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import { formatLabels, type LabelSelector } from "../object/selector.ts";
import type { MutatingHandler, ValidatingHandler } from "./review-call.ts";
import type {
  WebhookConfiguration,
  WebhookContext,
  WebhookOperation,
  WebhookRule,
  WebhookSelector,
} from "./webhook.ts";

const HOOK: Kinds<HookOptions> = {
  name: kind("hookName", requireHookName),
  operations: oneOrMore("operations", ["CREATE", "UPDATE", "DELETE"]),
  subresources: kind("subresources", requireSubresources),
  failurePolicy: oneOf("failurePolicy", ["Fail", "Ignore"]),
  sideEffects: oneOf("sideEffects", ["None", "NoneOnDryRun"]),
  timeoutSeconds: between(1, 30),
  objectSelector: kind("labels", requireLabels),
  namespaceSelector: kind("labels", requireLabels),
  conditions: kind("conditions", requireConditions),
  when: oneOf("when", ["spec", "always"]),
};

export const VALIDATING_OPTIONS: Kinds<ValidatingOptions> = {
  ...HOOK,
  handle: func,
  setup: func,
};

export const MUTATING_OPTIONS: Kinds<MutatingOptions> = {
  ...HOOK,
  operations: oneOrMore("mutatingOperations", ["CREATE", "UPDATE"]),
  reinvocation: oneOf("reinvocation", ["Never", "IfNeeded"]),
  handle: func,
  setup: func,
};

/** Options of every admission webhook. */
export interface HookOptions {
  /**
   * Name of the webhook: a domain of at least three parts, or its first part alone.
   *
   * @defaultValue `validate` or `mutate`, followed by the plural and the group: `validate.crontasks.batch.example.org`
   */
  readonly name?: string | undefined;

  /**
   * Operations to ask about: `"CREATE"`, `"UPDATE"`, and for validating webhooks `"DELETE"`.
   *
   * @defaultValue `["CREATE", "UPDATE"]`
   */
  readonly operations?: readonly WebhookOperation[] | undefined;

  /**
   * Subresources whose writes are asked about, beside those of the object: `["status"]`. Of `scale` the handler gets a
   * `Scale` of `autoscaling/v1`.
   *
   * @defaultValue none
   */
  readonly subresources?: readonly string[] | undefined;

  /**
   * Whether a request is refused while no replica answers: `"Fail"`, or `"Ignore"`, with which it passes unseen.
   *
   * @defaultValue `"Fail"`
   */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;

  /**
   * Whether the handler changes something elsewhere: `"None"`, or `"NoneOnDryRun"` if it does so unless `dryRun` is true.
   *
   * @defaultValue `"None"`
   */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined;

  /**
   * Seconds that an answer may take. Whole, 1 to 30. The handler has a tenth less. Mutating webhooks run one after the
   * other, and a request has 34 s for all of them.
   *
   * @defaultValue `5`
   */
  readonly timeoutSeconds?: number | undefined;

  /**
   * Selects objects by their labels. The new object or the old one must match.
   *
   * @defaultValue every object
   */
  readonly objectSelector?: LabelSelector | undefined;

  /**
   * Selects namespaces by their labels; `kubernetes.io/metadata.name` is the name of a namespace. Objects of the cluster
   * are not selected by it.
   *
   * @defaultValue all namespaces; for kinds of others all but `kube-system` and, in manifests, that of the operator
   */
  readonly namespaceSelector?: LabelSelector | undefined;

  /**
   * Expressions of CEL by name, all of which must be true. The API server evaluates them before it asks.
   *
   * @defaultValue none
   */
  readonly conditions?: Readonly<Record<string, string>> | undefined;

  /**
   * Which updates are asked about: with `"spec"` those that change the spec of an object that is not being deleted. So
   * labels, finalizers and the deletion of an object never wait for the operator. `"always"` for all of them.
   *
   * @defaultValue `"spec"` for custom resources without `subresources`, otherwise `"always"`
   */
  readonly when?: "spec" | "always" | undefined;
}

/** Options for `validating`. Either `handle` or `setup`. */
export interface ValidatingOptions<T extends KubeObject = KubeObject> extends HookOptions {
  /** Checks an object; see {@link ValidatingHandler}. */
  readonly handle?: ValidatingHandler<T> | undefined;

  /** Returns `handle`, and may declare informers. Called once in each process. */
  readonly setup?: ((context: WebhookContext) => ValidatingHandler<T>) | undefined;
}

/** Options for `mutating`. Either `handle` or `setup`. */
export interface MutatingOptions<T extends KubeObject = KubeObject> extends HookOptions {
  /**
   * Whether the API server asks again if a later webhook has changed the object: `"Never"` or `"IfNeeded"`. The handler
   * then sees what it has done before.
   *
   * @defaultValue `"Never"`
   */
  readonly reinvocation?: "Never" | "IfNeeded" | undefined;

  /** Changes an object; see {@link MutatingHandler}. */
  readonly handle?: MutatingHandler<T> | undefined;

  /** Returns `handle`, and may declare informers. Called once in each process. */
  readonly setup?: ((context: WebhookContext) => MutatingHandler<T>) | undefined;
}

/** The name of a namespace, as a label of it. */
export const NAMESPACE_NAME = "kubernetes.io/metadata.name";

/** True for every operation on an object, but for an update that leaves the spec alone or is one of a deletion. */
const ON_SPEC =
  "request.operation != 'UPDATE' || (!has(oldObject.metadata.deletionTimestamp) && object.?spec != oldObject.?spec)";

/** Kinds without which a cluster cannot recover. */
const VITAL: ReadonlySet<string> = new Set(["pods", "nodes", "leases.coordination.k8s.io"]);

/** @throws RangeError for options that do not go together */
export function configurationOf(
  type: WebhookConfiguration["type"],
  resource: Resource<never, never>,
  options: HookOptions & Pick<MutatingOptions, "reinvocation">,
): WebhookConfiguration {
  const { reinvocation = "Never", failurePolicy = "Fail" } = options;
  const { sideEffects = "None", timeoutSeconds = 5 } = options;
  requireWhole("options.timeoutSeconds", timeoutSeconds);
  if (failurePolicy === "Fail") requireHarmless(resource, options);
  return {
    type,
    name: hookName(type, resource, options.name),
    rules: [ruleOf(resource, options)],
    failurePolicy,
    matchPolicy: "Equivalent",
    sideEffects,
    timeoutSeconds,
    ...(type === "mutating" && { reinvocationPolicy: reinvocation }),
    ...selectionOf(resource, options),
  };
}

function ruleOf(
  { group, version, plural, scope }: Resource<never, never>,
  { operations = ["CREATE", "UPDATE"], subresources = [] }: HookOptions,
): WebhookRule {
  return {
    apiGroups: [group],
    apiVersions: [version],
    operations: [...operations],
    resources: [plural, ...subresources.map((name) => `${plural}/${name}`)],
    scope,
  };
}

/** The selectors and the conditions that there are. */
function selectionOf(
  resource: Resource<never, never>,
  options: HookOptions,
): Partial<WebhookConfiguration> {
  const { objectSelector, conditions = {} } = options;
  const when = whenOf(options, !isBuiltInVersion(resource.apiVersion));
  const namespaceSelector = namespacesOf(resource, options);
  const matchConditions = Object.entries({
    ...(when === "spec" && { spec: ON_SPEC }),
    ...conditions,
  });
  return {
    ...(namespaceSelector !== undefined && { namespaceSelector }),
    ...(objectSelector !== undefined && { objectSelector: selectorOf(objectSelector) }),
    ...(matchConditions.length > 0 && {
      matchConditions: matchConditions.map(([name, expression]) => ({ name, expression })),
    }),
  };
}

function whenOf({ when, subresources = [] }: HookOptions, isCustom: boolean): "spec" | "always" {
  if (when === "spec" && subresources.length > 0)
    throw new RangeError(
      'options.when must be "always" with options.subresources: their writes leave the spec alone',
    );
  return when ?? (isCustom && subresources.length === 0 ? "spec" : "always");
}

function hookName(
  type: string,
  resource: Resource<never, never>,
  given: string | undefined,
): string {
  const first = given ?? (type === "validating" ? "validate" : "mutate");
  if (first.includes(".")) return first;
  return `${first}.${resource.plural}.${resource.group || "core"}`;
}

/** A kind that somebody else defines: the system may depend on it. */
function isOfOthers(resource: Resource<never, never>): boolean {
  return resource.crd === undefined;
}

function namespacesOf(
  resource: Resource<never, never>,
  { namespaceSelector }: HookOptions,
): WebhookSelector | undefined {
  if (namespaceSelector !== undefined) return selectorOf(namespaceSelector);
  if (!isOfOthers(resource) || resource.scope === "Cluster") return undefined;
  return selectorOf({ [NAMESPACE_NAME]: { not: ["kube-system"] } });
}

function requireHarmless(resource: Resource<never, never>, options: HookOptions): void {
  const name = resourceName(resource);
  if (!VITAL.has(name) && resource.plural !== "*" && resource.group !== "*") return;
  const selector = resource.scope === "Cluster" ? "objectSelector" : "namespaceSelector";
  if (options[selector] !== undefined) return;
  throw new RangeError(
    `options.failurePolicy must be "Ignore" for ${name}, or options.${selector} must be set: while no replica answers, "Fail" stops the recovery of the cluster`,
  );
}

/** A selector in the form of Kubernetes. */
export function selectorOf(selector: LabelSelector): WebhookSelector {
  const matchExpressions = Object.entries(selector).map(([key, wanted]) => {
    if (typeof wanted === "boolean")
      return { key, operator: wanted ? ("Exists" as const) : ("DoesNotExist" as const) };
    const isNot = typeof wanted === "object" && "not" in wanted;
    const values = isNot ? wanted.not : wanted;
    const list = typeof values === "string" ? [values] : [...values];
    return { key, operator: isNot ? ("NotIn" as const) : ("In" as const), values: list };
  });
  return { matchExpressions };
}

function requireHookName(path: string, name: string): void {
  requireText(path, name);
  const parts = name.split(".");
  const isName = parts.every((part) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(part));
  if (isName && parts.length !== 2 && name.length <= 253) return;
  throw new RangeError(
    `${path} must be a name such as "schedule" or "schedule.crontasks.example.org", got ${JSON.stringify(name.slice(0, 300))}`,
  );
}

function requireSubresources(path: string, names: readonly string[]): void {
  requireArray(path, names);
  for (const [index, name] of names.entries()) {
    requireText(`${path}[${index}]`, name);
    if (!/^[a-z]+$/.test(name))
      throw new RangeError(
        `${path}[${index}] must be a subresource such as "status", got ${JSON.stringify(name.slice(0, 300))}`,
      );
  }
}

function requireLabels(path: string, selector: LabelSelector): void {
  requireOptions(path, selector);
  formatLabels(selector);
}

function requireConditions(path: string, conditions: Readonly<Record<string, string>>): void {
  requireOptions(path, conditions);
  for (const [name, expression] of Object.entries(conditions)) {
    if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name) || name === "spec")
      throw new RangeError(
        `${path} must have names such as "is-new", and not "spec", got ${JSON.stringify(name.slice(0, 300))}`,
      );
    requireText(`${path}["${name}"]`, expression);
  }
}

function requireWhole(path: string, value: number): void {
  if (!Number.isInteger(value))
    throw new RangeError(`${path} must be a whole number of seconds, got ${value}`);
}

function oneOf(name: string, values: readonly string[]) {
  return kind(name, (path, value: unknown) => requireOneOf(path, value, values), ...values);
}

function oneOrMore(name: string, values: readonly string[]) {
  const check = (path: string, list: readonly unknown[]): void => {
    requireArray(path, list);
    if (list.length === 0)
      throw new RangeError(
        `${path} must have at least one of ${shown(values)}, got an empty array`,
      );
    for (const [index, value] of list.entries()) requireOneOf(`${path}[${index}]`, value, values);
  };
  return kind(name, check, ...values);
}

function requireOneOf(path: string, value: unknown, values: readonly string[]): void {
  if (values.includes(value as string)) return;
  const got = typeof value === "string" ? JSON.stringify(value.slice(0, 300)) : typeof value;
  throw new RangeError(`${path} must be ${shown(values)}, got ${got}`);
}

function shown(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(" or ");
}
