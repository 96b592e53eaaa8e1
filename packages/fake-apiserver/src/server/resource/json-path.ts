/** Chooses values below one value. */
type Step = (value: unknown) => readonly unknown[];

/** A path of a printed column, ready to be followed. */
export type JsonPath = (value: unknown) => readonly unknown[];

// One step at the beginning of a path. A dot in a name is escaped.
const NAME = /^\.?((?:\\.|[^.[\]\\])+)/;
const QUOTED = /^\.?\['(.*?)'\]/;
const INDEX = /^\.?\[(-?\d+|\*)\]/;
const FILTER =
  /^\.?\[\?\(@([^=!<>\s]+)\s*(?:(==|!=|<=|>=|<|>)\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+)))?\s*\)\]/;

/**
 * Reads a path as columns of a CustomResourceDefinition have it: names, `['names']`, `[0]`, `[-1]`, `[*]`, and
 * filters such as `[?(@.type=="Ready")]`.
 *
 * @returns the values that the path chooses, in their order; undefined if it has other parts
 *
 * Source: k8s.io/client-go/util/jsonpath.
 */
export function jsonPath(path: string): JsonPath | undefined {
  const steps: Step[] = [];
  for (let rest = path; rest !== "" && rest !== "."; ) {
    const [length, step] = firstStep(rest) ?? [];
    if (length === undefined || step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(length);
  }
  return (value) => steps.reduce<readonly unknown[]>((found, step) => found.flatMap(step), [value]);
}

function firstStep(path: string): readonly [length: number, step: Step] | undefined {
  const quoted = QUOTED.exec(path);
  if (quoted !== null) {
    // As upstream: the quotes contain a path of names, separated by dots.
    const step = jsonPath(`.${quoted[1]}`);
    return step && [quoted[0].length, step];
  }
  const index = INDEX.exec(path);
  if (index !== null) return [index[0].length, elements(index[1] as string)];
  const filter = FILTER.exec(path);
  if (filter !== null) {
    const step = filtered(filter);
    return step && [filter[0].length, step];
  }
  const name = NAME.exec(path);
  if (name === null) return undefined;
  const text = (name[1] as string).replace(/\\(.)/g, "$1");
  return [name[0].length, text === "*" ? elements("*") : member(text)];
}

function member(name: string): Step {
  return (value) =>
    typeof value === "object" && value !== null && Object.hasOwn(value, name)
      ? [(value as Record<string, unknown>)[name]]
      : [];
}

function elements(index: string): Step {
  if (index === "*") return childrenOf;
  return (value) => {
    const element: unknown = Array.isArray(value) ? value.at(Number(index)) : undefined;
    return element === undefined ? [] : [element];
  };
}

function childrenOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function filtered([, path, operator, double, single, bare]: RegExpExecArray): Step | undefined {
  const left = jsonPath(path as string);
  if (left === undefined) return undefined;
  const right = double ?? single ?? literal(bare);
  const holds = (item: unknown): boolean => {
    const [first] = left(item);
    return operator === undefined ? first !== undefined : compare(first, operator, right);
  };
  return (value) => childrenOf(value).filter(holds);
}

function literal(text: string | undefined): unknown {
  if (text === "true" || text === "false") return text === "true";
  return text === undefined || Number.isNaN(Number(text)) ? text : Number(text);
}

/** Values of two types are different, and neither is the greater one. */
function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== undefined && left !== right;
  if (typeof left !== typeof right || !isOrdered(left) || !isOrdered(right)) return false;
  if (operator.endsWith("=") && left === right) return true;
  return operator.startsWith("<") ? left < right : left > right;
}

function isOrdered(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
