import { Backoff, type BackoffStrategy, type Random } from "@holdfast/wait";
import { DecorrelatedJitterBackoff, SymmetricJitterBackoff } from "@holdfast/wait/strategies";
import type { Field } from "./draft.ts";

export type StrategyName = "exponential" | "constant" | "decorrelated";
export type JitterName = "none" | "share" | "symmetric" | "full" | "equal";

/** A strategy of the page: its fields, and the forms of jitter that it takes. */
interface Choice {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly jitters: readonly JitterName[];
}

const PLAIN: readonly JitterName[] = ["none", "share", "full", "equal"];

export const STRATEGIES: Readonly<Record<StrategyName, Choice>> = {
  exponential: {
    title: "exponential",
    fields: ["duration", "factor", "jitter", "share", "cap", "steps"],
    jitters: [...PLAIN, "symmetric"],
  },
  constant: { title: "constant", fields: ["duration", "jitter", "share"], jitters: PLAIN },
  decorrelated: {
    title: "decorrelated jitter",
    fields: ["duration", "factor", "cap"],
    jitters: [],
  },
};

export const JITTERS: Readonly<Record<JitterName, { title: string; range: string }>> = {
  none: { title: "none", range: "of b" },
  share: { title: "proportional", range: "from b to b × (1 + share)" },
  full: { title: "full", range: "from 0 to b" },
  equal: { title: "equal", range: "from b/2 to b" },
  symmetric: { title: "symmetric, up and down", range: "b × (1 ± share)" },
};

type ClassName = "Backoff" | "DecorrelatedJitterBackoff" | "SymmetricJitterBackoff";

const CLASSES: Readonly<Record<ClassName, unknown>> = {
  Backoff,
  DecorrelatedJitterBackoff,
  SymmetricJitterBackoff,
};

/** A class of `@holdfast/wait` and its options, to run and to show as code. */
export interface Shape {
  readonly name: ClassName;
  readonly options: Readonly<Record<string, number | string>>;
}

/** @throws RangeError if an option is out of its range */
export function strategyOf({ name, options }: Shape, random: Random): BackoffStrategy {
  const Strategy = CLASSES[name] as new (options: object) => BackoffStrategy;
  return new Strategy({ ...options, random });
}

/** A call of the class. */
export function expressionOf({ name, options }: Shape): string {
  return `new ${name}(${literalOf(options)})`;
}

/** A program that uses the shape. */
export function programOf(shape: Shape): string {
  const isRoot = shape.name === "Backoff";
  return [
    `import { retry } from "@holdfast/wait";`,
    ...(isRoot ? [] : [`import { ${shape.name} } from "@holdfast/wait/strategies";`]),
    "",
    `const backoff = ${isRoot ? literalOf(shape.options) : expressionOf(shape)};`,
    "await retry(call, { backoff });",
  ].join("\n");
}

function literalOf(options: Shape["options"]): string {
  const entries = Object.entries(options).map(([name, value]) => `${name}: ${write(value)}`);
  return `{ ${entries.join(", ")} }`;
}

function write(value: number | string): string {
  if (typeof value === "string") return JSON.stringify(value);
  return `${value}`.replace(/^\d{4,}/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, "_"));
}
