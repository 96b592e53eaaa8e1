import { createRequire } from "node:module";
import type { Environment } from "@marcbachmann/cel-js";
import type { Cause } from "../../object/cause.ts";
import { isEqual, isObject, type JsonObject, own, propertiesOf } from "../../object/json.ts";
import { oldItem } from "../validation/check-schema.ts";
import { addFunctions, forLibrary } from "./functions.ts";
import { PREFIXES, partProblem } from "./rule-parts.ts";
import { isLacking, namesInRules, RuleTypes, TYPED, withType } from "./rule-types.ts";
import { goDuration } from "./times.ts";

/** A value with its schema and its path, and the value before an update. */
interface Field {
  readonly schema: JsonObject;
  readonly value: unknown;

  /** Undefined: there is none, or it cannot be told which one it is. */
  readonly old: unknown;
  readonly path: string;
}

/** Loaded with the first rule. */
let evaluator: Evaluator | "missing" | undefined;

/** The rules in `x-kubernetes-validations` that an object breaks. */
export function* ruleCauses(
  schema: JsonObject,
  object: JsonObject,
  old: JsonObject | undefined,
): Generator<Cause> {
  if (!hasRules(schema)) return;
  evaluator ??= Evaluator.load();
  if (evaluator !== "missing")
    yield* fieldCauses(evaluator, { schema: rootOf(schema), value: object, old, path: "" });
}

/**
 * Whether a condition of a webhook holds.
 *
 * @param variables - values of JSON by name
 * @returns undefined if it is not evaluated, which is reported
 * @throws Error if its evaluation fails
 */
export function conditionHolds(expression: string, variables: JsonObject): boolean | undefined {
  evaluator ??= Evaluator.load();
  return evaluator === "missing" ? undefined : evaluator.holds(expression, variables);
}

/** A rule that a server refuses with its CustomResourceDefinition. */
export interface RuleProblem {
  readonly path: string;
  readonly rule: unknown;
  readonly problem: string;
}

/** The rules of a schema that a server refuses: those that do not parse, or do not fit the types of their fields. */
export function* ruleProblems(schema: JsonObject): Generator<RuleProblem> {
  if (!hasRules(schema)) return;
  evaluator ??= Evaluator.load();
  if (evaluator === "missing") return;
  const root = rootOf(schema);
  yield* problemsBelow(evaluator.typesOf(root), { schema: root, path: "" });
}

function* problemsBelow(
  types: RuleTypes,
  { schema, path }: Pick<Field, "schema" | "path">,
): Generator<RuleProblem> {
  const rules = own(schema, "x-kubernetes-validations");
  for (const rule of Array.isArray(rules) ? rules.filter(isObject) : []) {
    const problem = partProblem(rule, schema) ?? types.problem(rule, schema);
    if (problem !== undefined) yield { path, rule: rule["rule"], problem };
  }
  const below = Object.entries(propertiesOf(schema)).map(
    ([name, property]) => [path === "" ? name : `${path}.${name}`, property] as const,
  );
  const others = [`${path}.*`, own(schema, "additionalProperties")] as const;
  for (const [at, one] of [...below, others, [`${path}[]`, own(schema, "items")] as const])
    if (isObject(one)) yield* problemsBelow(types, { schema: one, path: at });
}

/** Whether there is a rule in a schema. */
export function hasRules(schema: JsonObject): boolean {
  if (own(schema, "x-kubernetes-validations") !== undefined) return true;
  const below = [own(schema, "items"), own(schema, "additionalProperties")];
  return [...below, ...Object.values(propertiesOf(schema))].some(
    (one) => isObject(one) && hasRules(one),
  );
}

/** A schema whose rules see the kind, the version and the name too. */
function rootOf(schema: JsonObject): JsonObject {
  const properties = { ...propertiesOf(schema), ...TYPED };
  return { ...schema, type: "object", properties };
}

function* fieldCauses(evaluator: Evaluator, field: Field): Generator<Cause> {
  const { schema, value } = field;
  if (value === null || value === undefined) return;
  const rules = own(schema, "x-kubernetes-validations");
  for (const rule of Array.isArray(rules) ? rules.filter(isObject) : []) {
    const cause = evaluator.check(rule, field);
    if (cause !== undefined) yield cause;
  }
  for (const below of fieldsBelow(field)) yield* fieldCauses(evaluator, below);
}

function* fieldsBelow({ schema, value, old, path }: Field): Generator<Field> {
  const items = own(schema, "items");
  if (Array.isArray(value) && isObject(items))
    for (const [index, item] of value.entries())
      yield {
        schema: items,
        value: item,
        old: oldItem(schema, item, old),
        path: `${path}[${index}]`,
      };
  if (!isObject(value)) return;
  const properties = propertiesOf(schema);
  for (const [name, member] of Object.entries(value)) {
    const named = own(properties, name);
    const below = named ?? own(schema, "additionalProperties");
    const before = isObject(old) ? own(old, name) : undefined;
    const at = named === undefined ? `${path}[${name}]` : `${path}.${name}`;
    if (isObject(below))
      yield { schema: below, value: member, old: before, path: at.replace(/^\./, "") };
  }
}

type Library = typeof import("@marcbachmann/cel-js");

/** Evaluates rules by the library, which is an optional peer. */
class Evaluator {
  readonly #library: Library;

  /** Without variables. */
  readonly #base: Environment;
  readonly #environment: Environment;

  /** For rules with `optionalOldSelf`. */
  readonly #optional: Environment;

  /** For conditions of webhooks. */
  readonly #conditions: Environment;

  /** Rules that were reported, by their text. */
  readonly #reported = new Set<string>();

  private constructor(library: Library) {
    this.#library = library;
    this.#base = new library.Environment({
      enableOptionalTypes: true,
      homogeneousAggregateLiterals: false,
    });
    addFunctions(this.#base, library.Optional);
    const base = this.#base.clone().registerVariable("self", "dyn");
    this.#environment = base.clone().registerVariable("oldSelf", "dyn");
    this.#optional = base.clone().registerVariable("oldSelf", "optional");
    this.#conditions = this.#base.clone();
    for (const name of ["object", "oldObject", "request"])
      this.#conditions.registerVariable(name, "dyn");
  }

  /** Reports a library that is not installed. */
  static load(): Evaluator | "missing" {
    try {
      return new Evaluator(createRequire(import.meta.url)("@marcbachmann/cel-js") as Library);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
      warn("rules and conditions in CEL are not evaluated: install @marcbachmann/cel-js");
      return "missing";
    }
  }

  /** Types for the rules of one schema. */
  typesOf(schema: JsonObject): RuleTypes {
    return new RuleTypes(this.#base.clone(), schema);
  }

  /** The cause of a failure. Undefined if the rule holds, or is not evaluated. */
  check(rule: JsonObject, field: Field): Cause | undefined {
    const text = String(rule["rule"]);
    const isOptional = rule["optionalOldSelf"] === true;
    if (isSkipped(text, field, isOptional)) return undefined;
    const environment = isOptional ? this.#optional : this.#environment;
    if (!this.#isKnown(environment, text)) return undefined;
    try {
      const variables = {
        self: this.#valueOf(field.schema, field.value),
        ...this.#before(field, isOptional),
      };
      if (environment.evaluate(forLibrary(text), variables) === true) return undefined;
      return ruleCause(rule, field, this.#message(environment, rule, variables));
    } catch (error) {
      if (!isLacking(summaryOf(error))) return errorCause(rule, field, error);
      this.#report(text, summaryOf(error));
      return undefined;
    }
  }

  /** Whether an expression over values without a schema is true. Undefined if it is not evaluated. */
  holds(expression: string, variables: JsonObject): boolean | undefined {
    if (!this.#isKnown(this.#conditions, expression)) return undefined;
    const values = withIntegers(variables) as JsonObject;
    return this.#conditions.evaluate(forLibrary(expression), values) === true;
  }

  #before({ schema, old }: Field, isOptional: boolean): { readonly oldSelf?: unknown } {
    const value = old === undefined || old === null ? undefined : this.#valueOf(schema, old);
    if (isOptional) return { oldSelf: this.#library.Optional.of(value) };
    return value === undefined ? {} : { oldSelf: value };
  }

  /** Whether the library knows every function of a rule. The first time that it does not, it is reported. */
  #isKnown(environment: Environment, text: string): boolean {
    const { valid, error } = environment.check(forLibrary(text));
    if (!valid) this.#report(text, summaryOf(error));
    return valid;
  }

  #report(text: string, summary: string): void {
    if (!this.#reported.has(text))
      warn(`the rule ${JSON.stringify(text)} is not evaluated: ${summary}`);
    this.#reported.add(text);
  }

  #message(environment: Environment, rule: JsonObject, variables: JsonObject): string {
    const { messageExpression, message } = rule;
    const plain = typeof message === "string" ? message : `failed rule: ${String(rule["rule"])}`;
    if (typeof messageExpression !== "string" || messageExpression === "") return plain;
    if (!this.#isKnown(environment, messageExpression)) return plain;
    try {
      const made: unknown = environment.evaluate(forLibrary(messageExpression), variables);
      return typeof made === "string" && made !== "" ? made : plain;
    } catch {
      return plain;
    }
  }

  /** A value of JSON as CEL has it, by its schema. */
  #valueOf(schema: JsonObject, value: unknown): unknown {
    if (typeof value === "number")
      return own(schema, "type") === "number" ? value : BigInt(Math.trunc(value));
    if (typeof value === "string") return this.#textOf(String(own(schema, "format")), value);
    if (Array.isArray(value)) {
      const items = own(schema, "items");
      return value.map((item) => this.#valueOf(isObject(items) ? items : {}, item));
    }
    return isObject(value) ? this.#objectOf(schema, value) : value;
  }

  #textOf(format: string, text: string): unknown {
    if (format === "date-time" || format === "datetime" || format === "date") return new Date(text);
    if (format === "byte") return Uint8Array.from(Buffer.from(text, "base64"));
    if (format !== "duration") return text;
    const self = goDuration(text);
    return this.#environment.evaluate(forLibrary("duration(self)"), { self });
  }

  #objectOf(schema: JsonObject, value: JsonObject): unknown {
    const others = own(schema, "additionalProperties");
    if (isObject(others))
      return new Map(
        Object.entries(value).map(([name, one]) => [name, this.#valueOf(others, one)]),
      );
    const entries = Object.entries(withType(schema)).flatMap(([name, property]) => {
      const member = own(value, name);
      if (member === undefined || member === null || !isObject(property)) return [];
      const read = this.#valueOf(property, member);
      return namesInRules(name).map((one) => [one, read] as const);
    });
    return Object.fromEntries(entries);
  }
}

/** A value of JSON as CEL has it: whole numbers are integers. */
function withIntegers(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(withIntegers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withIntegers(one)]));
}

/** Whether a rule says nothing about a value: it compares with one that there was not, or the value is unchanged. */
function isSkipped(text: string, { value, old }: Field, isOptional: boolean): boolean {
  if (!/\boldSelf\b/.test(text)) return old !== undefined && isEqual(value, old);
  return old === undefined && !isOptional;
}

function ruleCause(rule: JsonObject, { value, path }: Field, text: string): Cause {
  const fieldPath = textAt(rule, "fieldPath") ?? "";
  const field = `${path}${fieldPath}`.replace(/^\./, "") || "<nil>";
  const reason = textAt(rule, "reason") ?? "FieldValueInvalid";
  const isShort = typeof value !== "object" && fieldPath === "";
  const shown = isShort ? `${JSON.stringify(value)}: ` : "";
  // A server has no text beside the value.
  if (reason === "FieldValueDuplicate")
    return { reason, field, message: `Duplicate value: ${shown}`.replace(/[: ]+$/, "") };
  return { reason, field, message: `${PREFIXES[reason]?.(shown) ?? ""}${text}` };
}

function textAt(rule: JsonObject, name: string): string | undefined {
  const value = own(rule, name);
  return typeof value === "string" ? value : undefined;
}

function errorCause(rule: JsonObject, { schema, path }: Field, error: unknown): Cause {
  const type = String(own(schema, "type") ?? "");
  const text = `${wordsOf(summaryOf(error))} evaluating rule: ${rule["message"] ?? rule["rule"]}`;
  const shown = `Invalid value: ${JSON.stringify(type)}: ${text}`;
  return { reason: "FieldValueInvalid", field: path || "<nil>", message: shown };
}

/** Words of a server for errors of the library. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^No such key: /, "no such key: "],
  [/^modulo by zero$/, "modulus by zero"],
  [/^integer overflow: .*$/, "integer overflow"],
  [/^Unsigned integer overflow.*$/, "unsigned integer overflow"],
  [/^Optional value is not present$/, "optional.none() dereference"],
  [/^Invalid time zone specified: /, "unknown time zone "],
];

function wordsOf(summary: string): string {
  return WORDS.reduce((text, [pattern, next]) => text.replace(pattern, next), summary);
}

/** The text of an error of the library, without the place. */
function summaryOf(error: unknown): string {
  const { summary, message } = error as { readonly summary?: string; readonly message: string };
  return summary ?? message;
}

function warn(text: string): void {
  process.emitWarning(`FakeApi: ${text}`, "FakeApiWarning");
}
