import type { Scenario } from "../herd/simulate.ts";
import type { Draft, Field } from "./draft.ts";
import { type JitterName, type Shape, STRATEGIES, type StrategyName, strategyOf } from "./shape.ts";

/** A valid {@link Draft} as values. */
export interface Settings {
  readonly shape: Shape;
  readonly strategy: StrategyName;
  readonly jitter: JitterName;
  /** Delay at which growth ends, in milliseconds; `Infinity` for none. */
  readonly cap: number;
  readonly scenario: Scenario;
}

/** Messages by field. */
export type Problems = Partial<Record<Field, string>>;

/** Limits of this page; the options of a strategy are checked by its class. */
const LIMITS = { clients: [1, 2_000], outage: [1, 60], seed: [0, 2 ** 31 - 1] } as const;

/** @returns the settings, or their mistakes */
export function settingsOf(draft: Draft): { settings: Settings } | { problems: Problems } {
  const problems: Problems = {};
  const strategy = oneOf(draft, "strategy", Object.keys(STRATEGIES) as StrategyName[], problems);
  const fields = STRATEGIES[strategy].fields;
  const { jitters } = STRATEGIES[strategy];
  const jitter = jitters.length === 0 ? "full" : oneOf(draft, "jitter", jitters, problems);
  const number = (field: Field): number => numberOf(draft, field, problems);
  const whole = (field: keyof typeof LIMITS): number => wholeOf(draft, field, problems);

  const used = fields.filter(
    (field) => field !== "jitter" && (field !== "share" || hasShare(jitter)),
  );
  const values = Object.fromEntries(used.map((field) => [field, number(field)]));
  const scenario = {
    clients: whole("clients"),
    outage: whole("outage") * 1_000,
    workers: 10,
    service: 100,
    interval: 250,
    seed: whole("seed"),
  };
  const shape = shapeOf(strategy, jitter, values);
  if (Object.keys(problems).length === 0) checkShape(shape, problems);
  if (Object.keys(problems).length > 0) return { problems };
  const cap = values["cap"] ?? Number.POSITIVE_INFINITY;
  return { settings: { shape, strategy, jitter, cap, scenario } };
}

function hasShare(jitter: JitterName): boolean {
  return jitter === "share" || jitter === "symmetric";
}

function shapeOf(
  strategy: StrategyName,
  jitter: JitterName,
  values: Record<string, number>,
): Shape {
  const { share, ...rest } = values;
  const finite = Object.entries(rest).filter(([, value]) => value !== Number.POSITIVE_INFINITY);
  const options: Record<string, number | string> = Object.fromEntries(finite);
  if (strategy === "decorrelated") return { name: "DecorrelatedJitterBackoff", options };
  if (jitter === "full" || jitter === "equal") options["jitter"] = jitter;
  if (share !== undefined) options["jitter"] = share;
  if (jitter === "symmetric") {
    // Without a cap it would get the default of its class.
    return {
      name: "SymmetricJitterBackoff",
      options: { ...options, cap: rest["cap"] ?? Number.POSITIVE_INFINITY },
    };
  }
  return { name: "Backoff", options };
}

/** Lets the class check its options. */
function checkShape(shape: Shape, problems: Problems): void {
  try {
    strategyOf(shape, () => 0);
  } catch (error) {
    const { message } = error as Error;
    const name = /options\.(\w+)/.exec(message)?.[1];
    const field = name === "jitter" ? "share" : name;
    problems[(field ?? "strategy") as Field] = message.replace(/^options\./, "");
  }
}

function oneOf<Name extends string>(
  draft: Draft,
  field: Field,
  allowed: readonly Name[],
  problems: Problems,
): Name {
  const found = allowed.find((name) => name === draft[field]);
  if (found === undefined)
    problems[field] = `${field} must be one of ${allowed.join(", ")}, not ${quote(draft[field])}`;
  return found ?? (allowed[0] as Name);
}

function numberOf(draft: Draft, field: Field, problems: Problems): number {
  const text = draft[field].trim().replaceAll("_", "");
  const value = text === "" ? Number.NaN : Number(text);
  if (Number.isNaN(value))
    problems[field] = `${field} must be a number, not ${quote(draft[field])}`;
  return value;
}

function wholeOf(draft: Draft, field: keyof typeof LIMITS, problems: Problems): number {
  const value = numberOf(draft, field, problems);
  const [least, most] = LIMITS[field];
  if (!Number.isNaN(value) && !(Number.isInteger(value) && value >= least && value <= most))
    problems[field] = `${field} must be a whole number from ${least} to ${most}, not ${value}`;
  return value;
}

/** At most 40 characters, so that a link cannot fill the page. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
