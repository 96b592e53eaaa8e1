import { fromRe2 } from "@holdfast/kit/kubernetes";
import type { Environment, EnvironmentOptions, TypeCheckResult } from "@marcbachmann/cel-js";
import { isEqual, isObject, type JsonObject, own, propertiesOf } from "../../object/json.ts";
import { forLibrary, OWN } from "./functions.ts";
import { DURATION_TYPE, TIMESTAMP_TYPE } from "./times.ts";

const RESERVED: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** The names of a property in CEL: a reserved word has two, unless it is part of expressions. */
export function namesInRules(name: string): string[] {
  if (!RESERVED.has(name)) return [name.replace(/__|[-./]/g, (part) => ESCAPES[part] as string)];
  return /^(true|false|null|in)$/.test(name) ? [`__${name}__`] : [`__${name}__`, name];
}

/** Types of texts in CEL by their format. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  date: TIMESTAMP_TYPE,
  "date-time": TIMESTAMP_TYPE,
  datetime: TIMESTAMP_TYPE,
  duration: DURATION_TYPE,
  byte: "bytes",
};

/** The types that a schema gives the variables of its rules. */
export class RuleTypes {
  readonly #environment: Environment;
  readonly #known = new Map<JsonObject, string | undefined>();

  /** @param environment - one of its own, with functions and without variables */
  constructor(environment: Environment, root: JsonObject) {
    this.#environment = environment;
    // A clone of an environment freezes it: all types come first.
    this.#visit(root);
  }

  #visit(schema: JsonObject): void {
    this.#typeOf(schema);
    const below = [own(schema, "items"), own(schema, "additionalProperties")];
    for (const one of [...below, ...Object.values(propertiesOf(schema))])
      if (isObject(one)) this.#visit(one);
  }

  /** The reason for which a server refuses a rule. Undefined: it does not, or the library cannot tell. */
  problem(rule: JsonObject, schema: JsonObject): string | undefined {
    const { rule: text, messageExpression } = rule;
    const found = this.#problemOf(String(text), rule, { schema, type: "bool" });
    if (found !== undefined || typeof messageExpression !== "string" || messageExpression === "")
      return found;
    const problem = this.#problemOf(messageExpression, rule, { schema, type: "string" });
    return problem && `messageExpression: ${problem}`;
  }

  #problemOf(
    text: string,
    { optionalOldSelf }: JsonObject,
    { schema, type }: { schema: JsonObject; type: "bool" | "string" },
  ): string | undefined {
    const expression = forLibrary(text);
    const old = optionalOldSelf === true ? "optional" : undefined;
    const untyped = this.#check(expression, "dyn", old);
    if (!untyped.valid) return isRefused(untyped) ? summaryOf(untyped) : undefined;
    const self = this.#typeOf(schema) ?? "dyn";
    const typed = this.#check(expression, self, old);
    if (!typed.valid) return isLacking(summaryOf(typed)) ? undefined : summaryOf(typed);
    const mixed = this.#mixedProblem(expression, self, old);
    if (mixed !== undefined) return mixed;
    return resultProblem(typed, type) ?? this.#nodeProblem(expression);
  }

  #nodeProblem(expression: string): string | undefined {
    const nodes = nodesOf(this.#environment.parse(expression).ast);
    return patternProblem(nodes) ?? this.#literalProblem(expression, nodes);
  }

  /** A server makes the values of conversions and formats of literals when it reads a rule. */
  #literalProblem(expression: string, nodes: readonly Node[]): string | undefined {
    for (const { start, end } of nodes.filter(isLiteralCall))
      try {
        this.#environment.clone().evaluate(expression.slice(start, end), {});
      } catch (error) {
        const { summary, message } = error as {
          readonly summary?: string;
          readonly message: string;
        };
        // A server finds these texts with the object.
        if (!/^error during formatting: (fixed|scientific).* string$/.test(message))
          return summary ?? message;
      }
    return undefined;
  }

  /** The reason for which literals with values of several types are refused. */
  #mixedProblem(expression: string, self: string, old?: string): string | undefined {
    // A server lets the arguments of format() be of several types.
    if (/\.format\s*\(/.test(expression)) return undefined;
    const result = this.#check(expression, self, old, { homogeneousAggregateLiterals: true });
    // What the library holds for anything, a server may know better.
    return result.valid || /\bdyn\b/.test(summaryOf(result)) ? undefined : summaryOf(result);
  }

  #check(
    expression: string,
    type: string,
    old = type,
    options: EnvironmentOptions = {},
  ): TypeCheckResult {
    const environment = this.#environment.clone(options);
    return environment
      .registerVariable("self", type)
      .registerVariable("oldSelf", old)
      .check(expression);
  }

  /** Undefined for a value that rules cannot reach: one without a type. */
  #typeOf(schema: JsonObject): string | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema);
    const type = this.#makeType(schema);
    this.#known.set(schema, type);
    return type;
  }

  #makeType(schema: JsonObject): string | undefined {
    if (own(schema, "x-kubernetes-int-or-string") === true) return "dyn";
    switch (own(schema, "type")) {
      case "string":
        return TEXT_TYPES[String(own(schema, "format"))] ?? "string";
      case "integer":
        return "int";
      case "number":
        return "double";
      case "boolean":
        return "bool";
      case "array":
        return this.#collection("list<", own(schema, "items"));
      case "object":
        return this.#objectType(schema);
      default:
        return undefined;
    }
  }

  #collection(start: string, member: unknown): string | undefined {
    const type = isObject(member) ? this.#typeOf(member) : undefined;
    return type && `${start}${type}>`;
  }

  #objectType(schema: JsonObject): string | undefined {
    const others = own(schema, "additionalProperties");
    if (others !== undefined) return this.#collection("map<string, ", others);
    const properties = withType(schema);
    const fields: Record<string, string> = {};
    for (const [name, property] of Object.entries(properties)) {
      const type = isObject(property) ? this.#typeOf(property) : undefined;
      if (type !== undefined) for (const one of namesInRules(name)) fields[one] = type;
    }
    const name = `Object${this.#known.size}`;
    this.#environment.registerType(name, { ctor: class {}, fields });
    this.#environment.registerOperator(`${name} == ${name}`, isEqual);
    this.#environment.registerOperator(`${name} == null`, () => false);
    return name;
  }
}

/** The properties that rules see: those of every object of Kubernetes too, for one that is embedded. */
export function withType(schema: JsonObject): JsonObject {
  const isEmbedded = own(schema, "x-kubernetes-embedded-resource") === true;
  return isEmbedded ? { ...propertiesOf(schema), ...TYPED } : propertiesOf(schema);
}

const TEXT: JsonObject = { type: "string" };

/** The part of an object that rules see beside its content. */
export const TYPED: JsonObject = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: "object", properties: { name: TEXT, generateName: TEXT } },
};

function resultProblem(typed: TypeCheckResult, wanted: string): string | undefined {
  if (typed.type === wanted || typed.type === "dyn") return undefined;
  return `the expression must evaluate to a ${wanted}, not to ${typed.type}`;
}

function summaryOf({ error }: TypeCheckResult): string {
  return (error?.summary ?? String(error)).replaceAll(OWN, "");
}

/**
 * Whether the library fails at what it lacks: optional elements of literals, the type of a duration in front of a
 * time, an object or null as the result of `?:`.
 *
 * @param summary - of its error
 */
export function isLacking(summary: string): boolean {
  return (
    summary === "Unexpected token: QUESTION" ||
    /^no such overload: google\.protobuf\.Duration \S+ (dyn<)?google\.protobuf\.Timestamp/.test(
      summary,
    ) ||
    /^Ternary branches .*'null'/.test(summary)
  );
}

/** Types of which a server and the library think the same. */
const SCALAR = "'?(?:int|uint|double|bool|string|bytes|Quantity|Semver|Ip|Cidr|Url)'?";
const OF_SCALARS = new RegExp(
  `(?:got|no such overload:) ${SCALAR}(?: and | \\S+ |$)(?:${SCALAR})?$`,
);

const REFUSED: ReadonlySet<unknown> = new Set([
  ...["unknown_variable", "invalid_macro_argument", "no_matching_overload"],
]);

/** Whether a server refuses an expression too of which the library knows no types of variables. */
function isRefused(result: TypeCheckResult): boolean {
  const { error } = result;
  const summary = summaryOf(result);
  if (isLacking(summary)) return false;
  return error?.name === "ParseError" || REFUSED.has(error?.code) || OF_SCALARS.test(summary);
}

interface Node {
  readonly op?: unknown;
  readonly args?: unknown;
  readonly start?: number;
  readonly end?: number;
}

const CONVERSIONS: ReadonlySet<unknown> = new Set([
  ...["int", "uint", "double", "bool", "string", `${OWN}timestamp`, `${OWN}duration`],
]);

/** Whether a node converts a literal, or formats literals. */
function isLiteralCall({ op, args }: Node): boolean {
  if (!Array.isArray(args)) return false;
  const [name, ...given] = args;
  const isKnown = op === "rcall" ? name === "format" : op === "call" && CONVERSIONS.has(name);
  return isKnown && given.flat().every(isLiteral);
}

function isLiteral({ op, args }: Node): boolean {
  if (op === "-_") return isLiteral(args as Node);
  return op === "value" || (op === "list" && (args as Node[]).every(isLiteral));
}

/** A literal pattern that RE2 refuses. */
function patternProblem(nodes: readonly Node[]): string | undefined {
  const parts = nodes.flatMap(literalPattern);
  for (const pattern of parts)
    try {
      fromRe2(pattern);
    } catch (error) {
      return (error as Error).message;
    }
  return undefined;
}

/** A node of a syntax tree, and all below it. */
function nodesOf(node: unknown): Node[] {
  if (Array.isArray(node)) return node.flatMap(nodesOf);
  if (typeof node !== "object" || node === null) return [];
  return [node, ...nodesOf((node as Node).args)];
}

function literalPattern({ op, args }: Node): string[] {
  const isCall = (op === "call" || op === "rcall") && Array.isArray(args);
  if (!isCall || !/^find(All)?$|_matches$/.test(String(args[0]))) return [];
  const last: Node | undefined = [args.at(-1)].flat().at(-1);
  return last?.op === "value" && typeof last.args === "string" ? [last.args] : [];
}
