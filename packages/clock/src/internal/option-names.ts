/** The names of the options of a door, complete by its type. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/** Names that other packages have for the same thing. The first one that the door has is meant. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  attempts: ["retries", "maxRetries", "steps"],
  concurrency: ["workers"],
  delay: ["after", "duration", "period"],
  factor: ["multiplier"],
  initialdelay: ["duration"],
  interval: ["period", "duration"],
  limit: ["retries", "cap"],
  maxattempts: ["retries", "maxRetries", "steps"],
  maxdelay: ["cap"],
  maxinterval: ["cap"],
  maxretries: ["retries"],
  maxretrytime: ["maxElapsed", "timeout"],
  maxtimeout: ["cap"],
  mintimeout: ["duration"],
  multiplier: ["factor"],
  onfailedattempt: ["onRetry"],
  retries: ["maxRetries", "maxAttempts"],
  tries: ["retries", "maxRetries"],
};

/**
 * Checks that plain options have no other names: a misspelt option would be silent.
 *
 * Properties that are undefined pass, and so does an instance of a class, which may have members of its own.
 *
 * @throws TypeError that names the option, its door, and the likely option
 */
export function requireKnown(path: string, options: object, door: string, names: object): void {
  for (const name in options) {
    if (Object.hasOwn(names, name) || !isPlain(options)) continue;
    if ((options as Record<string, unknown>)[name] === undefined) continue;
    const known = Object.keys(names);
    const likely = likelyName(name, known);
    const advice =
      likely === undefined ? `: it has ${known.join(", ")}` : `; did you mean ${path}.${likely}?`;
    throw new TypeError(`${path}.${name.slice(0, 100)} is not an option of ${door}${advice}`);
  }
}

/** Plain objects, also those that inherit their defaults from another one. */
function isPlain(value: object): boolean {
  let prototype: unknown = Object.getPrototypeOf(value);
  while (prototype !== null) {
    if (isClass(prototype)) return false;
    prototype = Object.getPrototypeOf(prototype);
  }
  return true;
}

/** `Object` of another realm has another identity, and the same name. */
function isClass(prototype: unknown): boolean {
  const maker = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value as unknown;
  return typeof maker === "function" && maker.name !== "Object";
}

/** The option that a name stands for: another case or unit, another word for it, or up to two typing errors. */
function likelyName(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replace(/(ms|millis|milliseconds|seconds)$/, "");
  const same = known.find((one) => one.toLowerCase() === plain);
  if (same !== undefined) return same;
  const meant = SYNONYMS[plain]?.find((one) => known.includes(one));
  if (meant !== undefined) return meant;
  const near = known
    .map((one) => ({ one, edits: editsBetween(one.toLowerCase(), plain) }))
    .filter(({ one, edits }) => edits <= Math.min(2, one.length / 3))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.one;
}

/** Insertions, deletions, replacements and exchanges of neighbours that turn one text into another. */
function editsBetween(a: string, b: string): number {
  if (b.length > 100) return b.length;
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    const at = (edits: readonly number[], index: number): number => edits[index] as number;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const edits = Math.min(at(next, j - 1) + 1, at(row, j) + 1, at(row, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(isSwap ? Math.min(edits, at(before, j - 2) + 1) : edits);
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
