import { isTree } from "./difference.ts";
import { plainOf } from "./state-text.ts";

/** The parts of a state that differ between two runs. */
type Mask = typeof HIDDEN | MaskTree | undefined;

/** A value that differs. */
const HIDDEN = "<hidden>";

/** The parts of a state that are not compared. */
export interface Masks {
  /** Those that another time changes. */
  readonly time: Mask;
  /** Those of the others that another seed changes. */
  readonly seed: Mask;
}

/** States of three runs. */
interface ThreeStates {
  readonly state: unknown;
  /** That of another time, where there is one. */
  readonly ofTime?: unknown;
  /** That of another seed. */
  readonly ofSeed: unknown;
}

/** Shortest random text that is not equal to another one by chance. */
const MIN_UNIQUE = 8;

interface MaskTree {
  readonly parts: ReadonlyMap<string, Mask>;
  /** Names that both states have. */
  readonly names: ReadonlySet<string>;
  /** What the names have in common that each seed ends in another way. */
  readonly prefixes: readonly string[];
}

/** The masks of three runs, and paths where two seeds differ in more than values and names. */
export function masksOf({
  state,
  ofTime,
  ofSeed,
}: ThreeStates): Masks & { readonly lost: string[] } {
  // If another time leads to more than other values and names, the program follows the calendar: nothing is masked then.
  const isCalendar: string[] = [];
  const found =
    ofTime === undefined ? undefined : maskOf(plainOf(state), plainOf(ofTime), isCalendar);
  const time = isCalendar.length === 0 ? found : undefined;
  const lost: string[] = [];
  const [one, other] = [state, ofSeed].map((each) => masked(plainOf(each), time, () => HIDDEN));
  return { time, seed: maskOf(one, other, lost), lost };
}

/**
 * A state as it is compared. A random text is shown by the number of places that have it, so that a reference to something
 * that is not there is seen.
 */
export function comparable(state: unknown, { time, seed }: Masks): unknown {
  const timeless = masked(plainOf(state), time, () => "<time>");
  const places = new Map<unknown, number>();
  masked(timeless, seed, (value) => places.set(value, (places.get(value) ?? 0) + 1));
  return masked(timeless, seed, (value) => {
    const count = places.get(value);
    const isShared = typeof value === "string" && value.length >= MIN_UNIQUE && count !== 1;
    return isShared ? `<random, in ${count} places>` : "<random>";
  });
}

/** What differs between two states; and paths where they differ in more than values and names. */
function maskOf(one: unknown, other: unknown, lost: string[], path = ""): Mask {
  if (!isTree(one) || !isTree(other))
    return JSON.stringify(one) === JSON.stringify(other) ? undefined : HIDDEN;
  const onlyOne = Object.keys(one)
    .filter((name) => !(name in other))
    .sort();
  const onlyOther = Object.keys(other)
    .filter((name) => !(name in one))
    .sort();
  if (onlyOne.length !== onlyOther.length || Array.isArray(one) !== Array.isArray(other)) {
    lost.push(path === "" ? "the state" : path);
    return undefined;
  }
  const parts = new Map<string, Mask>();
  const names = new Set(Object.keys(one).filter((name) => name in other));
  const below = (name: string): string => (path === "" ? name : `${path}.${name}`);
  for (const name of names) parts.set(name, maskOf(one[name], other[name], lost, below(name)));
  const prefixes = onlyOne.map((name, index) => {
    const prefix = commonStart(name, onlyOther[index] as string);
    if (!/[^\s/]$/.test(prefix)) lost.push(below(name));
    parts.set(
      `${prefix}*`,
      maskOf(one[name], other[onlyOther[index] as string], lost, below(name)),
    );
    return prefix;
  });
  return { parts, names, prefixes };
}

/** A state without what a mask hides: values are replaced, and names are told to `replace` too. */
function masked(state: unknown, mask: Mask, replace: (value: unknown) => unknown): unknown {
  if (mask === undefined) return state;
  if (mask === HIDDEN) return replace(state);
  if (!isTree(state)) return state;
  if (Array.isArray(state))
    return state.map((item, index) => masked(item, mask.parts.get(`${index}`), replace));
  const entries = new Map<string, unknown>();
  for (const [name, value] of Object.entries(state)) {
    const label = mask.names.has(name) ? name : maskedName(name, mask.prefixes);
    if (label !== name) replace(name);
    let unique = label;
    for (let count = 2; entries.has(unique); count += 1) unique = `${label} (${count})`;
    entries.set(unique, masked(value, mask.parts.get(label), replace));
  }
  return Object.fromEntries(entries);
}

/** Paths of what masks hide. */
export function hiddenBy({ time, seed }: Masks): string[] {
  return [...pathsOf(time, "state"), ...pathsOf(seed, "state")];
}

function pathsOf(mask: Mask, path: string): string[] {
  if (mask === undefined) return [];
  if (mask === HIDDEN) return [path];
  return [
    ...mask.prefixes.map((prefix) => `${path}.${prefix}*`),
    ...[...mask.parts].flatMap(([name, part]) => pathsOf(part, `${path}.${name}`)),
  ];
}

/** Whether a text begins with a name of the state that masks hide. */
export function beginsWithHidden(text: string, { time, seed }: Masks): boolean {
  return [time, seed].some(
    (mask) => typeof mask === "object" && maskedName(text, mask.prefixes) !== text,
  );
}

/** A name whose end differs, as `ann-*`. */
function maskedName(name: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((one) => name.startsWith(one));
  return prefix === undefined ? name : `${prefix}*`;
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
