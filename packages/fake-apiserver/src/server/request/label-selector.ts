import { wrong } from "../../object/cause.ts";
import { type JsonObject, own } from "../../object/json.ts";
import { keyProblems, valueProblems } from "../../object/metadata-causes.ts";

/** Whether labels meet a condition. */
export type LabelRequirement = (labels: JsonObject) => boolean;

/** A selector that Kubernetes cannot read. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

/** A selector of labels in a manifest. Every condition must hold. */
interface LabelSelector {
  /** Values by label. */
  readonly matchLabels?: { readonly [key: string]: string } | undefined;

  /** Other conditions. */
  readonly matchExpressions?: readonly LabelExpression[] | undefined;
}

/** A condition of a {@link LabelSelector}. */
interface LabelExpression {
  /** The label. */
  readonly key: string;

  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;

  /** Values of `In` and `NotIn`. */
  readonly values?: readonly string[] | undefined;
}

/** Reads the selector of a manifest. One without conditions has none. */
export function requirementsOf({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector = {}): LabelRequirement[] {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
  });
  return parseLabelSelector([...equal, ...others].join(","));
}

/** The words and the signs of a selector, in its order; an empty text at its end. */
const TOKENS = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)\s*/y;
const SIGNS: ReadonlySet<string> = new Set(["==", "!=", "=", "!", "(", ")", ",", "<", ">", ""]);
const OPERATORS: ReadonlySet<string> = new Set(["in", "notin", "=", "==", "!=", "<", ">"]);

/**
 * Reads `labelSelector` as apimachinery does: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a > 1`, `a < 1`, `a`,
 * `!a`, separated by commas.
 *
 * @throws SelectorError for other text
 */
export function parseLabelSelector(text: string): LabelRequirement[] {
  const tokens = new Tokens(text);
  const requirements: LabelRequirement[] = [];
  if (tokens.next === "") return requirements;
  for (;;) {
    if (!tokens.isWord && tokens.next !== "!")
      throw unexpected(tokens.next, requirements.length === 0 ? START : AFTER_COMMA);
    requirements.push(requirementOf(tokens));
    const end = tokens.take();
    if (end === "") return requirements;
    if (end !== ",") throw unexpected(end, "',' or 'end of string'");
  }
}

const START = "!, identifier, or 'end of string'";
const AFTER_COMMA = "identifier after ','";

class Tokens {
  readonly #tokens: string[] = [];

  constructor(text: string) {
    for (const [, token = ""] of text.matchAll(new RegExp(TOKENS, "gy"))) this.#tokens.push(token);
  }

  /** The next token. */
  get next(): string {
    return this.#tokens[0] ?? "";
  }

  /** Whether the next token is a key or a value. */
  get isWord(): boolean {
    return !SIGNS.has(this.next);
  }

  take(): string {
    return this.#tokens.shift() ?? "";
  }

  takeWord(): string {
    if (!this.isWord) throw unreadable(unexpected(this.next, "identifier").message);
    return this.take();
  }
}

function requirementOf(tokens: Tokens): LabelRequirement {
  const isNegated = tokens.next === "!";
  if (isNegated) tokens.take();
  const key = tokens.takeWord();
  for (const problem of keyProblems(key)) throw invalid("<nil>", key, problem);
  const isThere: LabelRequirement = (labels) => Object.hasOwn(labels, key);
  if (isNegated) return not(isThere);
  if (tokens.next === "" || tokens.next === ",") return isThere;
  const operator = tokens.take();
  if (!OPERATORS.has(operator))
    throw unreadable(unexpected(operator, "in, notin, =, ==, !=, gt, lt").message);
  const values = operator.endsWith("in") ? listOf(tokens) : [singleValue(tokens)];
  requireValues(key, operator, values);
  return comparison(key, operator, values);
}

function comparison(key: string, operator: string, values: readonly string[]): LabelRequirement {
  if (operator === "<" || operator === ">") {
    const sign = operator === ">" ? 1 : -1;
    return (labels) => {
      const value = own(labels, key);
      return isInteger(value) && sign * (Number(value) - Number(values[0])) > 0;
    };
  }
  const isOneOf: LabelRequirement = (labels) => values.includes(own(labels, key) as string);
  return operator === "!=" || operator === "notin" ? not(isOneOf) : isOneOf;
}

function requireValues(key: string, operator: string, values: readonly string[]): void {
  for (const [index, value] of values.entries()) {
    if ((operator === "<" || operator === ">") && !isInteger(value))
      throw invalid(
        `values[${index}]`,
        value,
        "for 'Gt', 'Lt' operators, the value must be an integer",
      );
    for (const problem of valueProblems(value))
      throw invalid(`values[${index}][${key}]`, value, problem);
  }
}

/** The values in brackets. Nothing beside a comma is an empty value. */
function listOf(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open !== "(") throw unreadable(`found '${open}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    values.push(tokens.isWord ? tokens.take() : "");
    const next = tokens.take();
    if (next === ")") return values;
    if (next !== ",") throw unreadable(unexpected(next, "',' or ')'").message);
  }
}

function singleValue(tokens: Tokens): string {
  return tokens.next === "" || tokens.next === "," ? "" : tokens.takeWord();
}

function isInteger(value: unknown): boolean {
  return typeof value === "string" && /^-?\d+$/.test(value);
}

function not(requirement: LabelRequirement): LabelRequirement {
  return (labels) => !requirement(labels);
}

function invalid(field: string, value: string, problem: string): SelectorError {
  return unreadable(`${field}: ${wrong(field, value, problem).message}`);
}

function unreadable(problem: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${problem}`);
}

function unexpected(found: string, expected: string): SelectorError {
  return new SelectorError(`found '${found}', expected: ${expected}`);
}
