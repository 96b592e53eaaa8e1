import type { RuleId, RuleSet } from "./rules.ts";
import type { Section } from "./section.ts";
import { type Sides, walk } from "./sides.ts";
import { type Fields, type Leaf, same, show } from "./trace.ts";

/** What the check of a case found. */
export interface CaseResult {
  /** How many values were compared. */
  readonly compared: number;
  /** How many of them are not what Go gave. */
  readonly differing: number;
  /** How many recorded values have no counterpart: what Go gives for a call that is rejected here. */
  readonly uncompared: number;
  /** The rules that make this case differ. */
  readonly rules: ReadonlySet<RuleId>;
  /** What is wrong, a line each. */
  readonly problems: readonly string[];
}

/** Up to here, 2^33 ms, every nanosecond has a double of milliseconds of its own. */
const EXACT = 2n ** 33n * 1_000_000n;

/** Replays a case and compares it, value by value, with what Go gave and with what the rules say. */
export async function checkCase(section: Section, kase: object): Promise<CaseResult> {
  requireKnownFields(section, kase);
  const recorded = section.recorded(kase);
  const predict: Predict = (rules) => section.predict(kase, recorded, rules);
  const model = predict(new Set());
  const want = predict(new Set(section.rules));
  const rules = new Set(same(model, want) ? [] : rulesBehind(want, section.rules, predict));
  const got = await section.replay(kase);

  const by = [...rules].join(", ");
  const problems: string[] = [];
  let [compared, differing, uncompared] = [0, 0, 0];
  walk({ go: recorded, model, want, got }, (path, value) => {
    const problem = problemOf(value, by);
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
    if (value.want !== value.got && problem === undefined) rules.add("beyond-99-days");
    if (value.want === undefined && value.got === undefined) uncompared++;
    else compared++;
    if (value.got !== undefined && value.go !== value.got) differing++;
  });
  return { compared, differing, uncompared, rules, problems };
}

type Predict = (rules: RuleSet) => Fields;

/** The rules without which a case would end otherwise; if no single one decides, all of them. */
function rulesBehind(want: Fields, rules: readonly RuleId[], predict: Predict): readonly RuleId[] {
  const needed: RuleId[] = [];
  for (const rule of rules) {
    const others = new Set(rules.filter((other) => other !== rule));
    if (!same(want, predict(others))) needed.push(rule);
  }
  return needed.length > 0 ? needed : rules;
}

function problemOf({ go, model, want, got }: Sides<Leaf>, by: string): string | undefined {
  const noLonger = `rule ${by} is no longer needed: got ${show(got)}, as in Go`;
  if (model !== go)
    return by !== "" && agree(go, got)
      ? noLonger
      : `want ${show(go)}, got ${show(got)}, and by no rule`;
  if (agree(want, got)) return undefined;
  if (want === go) return `want ${show(go)}, got ${show(got)}`;
  if (agree(go, got)) return noLonger;
  return `want ${show(want)} by rule ${by}, got ${show(got)}; Go gave ${show(go)}`;
}

/** Whether two values are the same but for what rule `beyond-99-days` grants. */
function agree(want: Leaf, got: Leaf): boolean {
  if (want === got) return true;
  if (typeof want !== "bigint" || typeof got !== "bigint" || magnitude(want) <= EXACT) return false;
  return magnitude(got - want) * 2n ** 51n <= magnitude(want);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function requireKnownFields({ fields, unseen }: Section, kase: object): void {
  const known = new Set([...fields, ...Object.keys(unseen)]);
  const unknown = fieldsIn(kase).filter((field) => !known.has(field));
  if (unknown.length > 0) throw new Error(`unknown field ${unknown.join(", ")}`);
}

/** The paths of the fields of an object and of the objects in it. */
function fieldsIn(object: object, prefix = ""): string[] {
  return Object.entries(object).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? fieldsIn(value, `${prefix}${name}.`)
      : `${prefix}${name}`,
  );
}
