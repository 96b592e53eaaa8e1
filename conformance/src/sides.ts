import { type Fields, isBranch, type Leaf, type Trace } from "./trace.ts";

/** One thing, a case or a value of it, from every side; undefined where it is not there. */
export interface Sides<Thing extends Trace> {
  /** What Go gave. */
  readonly go: Thing;
  /** What Go gives as far as the rules understand it. */
  readonly model: Thing;
  /** What Holdfast should give. */
  readonly want: Thing;
  /** What Holdfast gave. */
  readonly got: Thing;
}

/** Calls back for every value that stands on at least one side, with its path: `arms[3].at`. */
export function walk(
  sides: Sides<Trace>,
  visit: (path: string, value: Sides<Leaf>) => void,
  path = "",
): void {
  const value = eachSide(sides, leafOf);
  if (Object.values(value).some((leaf) => leaf !== undefined)) visit(path, value);
  const branches = Object.values(sides).filter(isBranch);
  if (branches.length === 0) return;
  const isList = branches.every((branch) => Array.isArray(branch));
  const prefix = path === "" ? "" : `${path}.`;
  for (const key of new Set(branches.flatMap((branch) => Object.keys(branch)))) {
    const below = eachSide(sides, (side) => (isBranch(side) ? (side as Fields)[key] : undefined));
    walk(below, visit, isList ? `${path}[${key}]` : prefix + key);
  }
}

function eachSide<From extends Trace, To extends Trace>(
  { go, model, want, got }: Sides<From>,
  change: (side: From) => To,
): Sides<To> {
  return { go: change(go), model: change(model), want: change(want), got: change(got) };
}

function leafOf(trace: Trace): Leaf {
  return isBranch(trace) ? undefined : trace;
}
