/** The parts of a state that another seed changes. */
export type Mask = typeof RANDOM | MaskTree | undefined;

/** A value that depends on the seed. */
const RANDOM = "<random>";

interface MaskTree {
  readonly parts: ReadonlyMap<string, Mask>;
  /** Names that both states have. */
  readonly names: ReadonlySet<string>;
  /** What the names have in common that each seed ends in another way. */
  readonly prefixes: readonly string[];
}

type Tree = Readonly<Record<string, unknown>>;

/** What differs between the states of two seeds; and paths where they differ in more than values and names. */
export function maskOf(one: unknown, other: unknown, lost: string[], path = ""): Mask {
  if (!isTree(one) || !isTree(other))
    return JSON.stringify(one) === JSON.stringify(other) ? undefined : RANDOM;
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

/** A state without what the mask hides. */
export function masked(state: unknown, mask: Mask): unknown {
  if (mask === undefined) return state;
  if (mask === RANDOM) return RANDOM;
  if (!isTree(state)) return state;
  if (Array.isArray(state))
    return state.map((item, index) => masked(item, mask.parts.get(`${index}`)));
  const entries = new Map<string, unknown>();
  for (const [name, value] of Object.entries(state)) {
    const label = mask.names.has(name) ? name : maskedName(name, mask.prefixes);
    let unique = label;
    for (let count = 2; entries.has(unique); count += 1) unique = `${label} (${count})`;
    entries.set(unique, masked(value, mask.parts.get(label)));
  }
  return Object.fromEntries(entries);
}

/** Paths of a mask: what it hides. */
export function hiddenBy(mask: Mask, path = "state"): string[] {
  if (mask === undefined) return [];
  if (mask === RANDOM) return [path];
  return [
    ...mask.prefixes.map((prefix) => `${path}.${prefix}*`),
    ...[...mask.parts].flatMap(([name, part]) => hiddenBy(part, `${path}.${name}`)),
  ];
}

/** A name whose end depends on the seed, as `ann-*`. */
export function maskedName(name: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((one) => name.startsWith(one));
  return prefix === undefined ? name : `${prefix}*`;
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}
