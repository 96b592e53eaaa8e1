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
  const { go, model, want, got } = sides;
  const there = [go, model, want, got].filter((side) => side !== undefined);
  const branches = there.filter(isBranch);
  if (branches.length < there.length)
    visit(path, { go: leafOf(go), model: leafOf(model), want: leafOf(want), got: leafOf(got) });
  if (branches.length === 0) return;
  const isList = branches.every(Array.isArray);
  const prefix = path === "" ? "" : `${path}.`;
  for (const key of keysOf(branches)) {
    const below = {
      go: at(go, key),
      model: at(model, key),
      want: at(want, key),
      got: at(got, key),
    };
    walk(below, visit, isList ? `${path}[${key}]` : prefix + key);
  }
}

/** Those of the first, and what others have besides. */
function keysOf(branches: readonly (Fields | readonly Trace[])[]): Iterable<string> {
  const [first = [], ...others] = branches.map((branch) => Object.keys(branch));
  const isWhole = others.every((keys) => keys.every((key, index) => key === first[index]));
  return isWhole ? first : new Set([...first, ...others.flat()]);
}

function leafOf(trace: Trace): Leaf {
  return isBranch(trace) ? undefined : trace;
}

function at(trace: Trace, key: string): Trace {
  return isBranch(trace) ? (trace as Fields)[key] : undefined;
}
