/** The names of the options of a door, complete by its type. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true };

/** Names that other packages have for the same thing. The first one that the door has is meant. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["attempts", ["retries", "steps"]],
  ["concurrency", ["workers"]],
  ["delay", ["after", "duration", "interval"]],
  ["factor", ["multiplier"]],
  ["faults", ["without"]],
  ["initialdelay", ["duration"]],
  ["interval", ["duration"]],
  ["limit", ["retries", "cap"]],
  ["maxattempts", ["retries", "steps"]],
  ["maxdelay", ["cap"]],
  ["maxinterval", ["cap"]],
  ["maxretries", ["retries"]],
  ["maxretrytime", ["maxElapsed", "timeout"]],
  ["maxtimeout", ["cap"]],
  ["mintimeout", ["duration"]],
  ["multiplier", ["factor"]],
  ["onfailedattempt", ["onRetry"]],
  ["period", ["interval"]],
  ["retries", ["maxAttempts"]],
  ["tries", ["retries"]],
]);

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
    const shown = name.slice(0, 100);
    const likely = likelyName(shown, known);
    const advice =
      likely === undefined ? `: it has ${known.join(", ")}` : `; did you mean ${path}.${likely}?`;
    throw new TypeError(`${path}.${shown} is not an option of ${door}${advice}`);
  }
}

/** Plain objects, also those that inherit their defaults from another one. */
export function isPlain(value: object): boolean {
  let prototype: unknown = Object.getPrototypeOf(value);
  while (prototype !== null && prototype !== Object.prototype) {
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

/** The option that a name stands for: another case or unit, up to two typing errors, or another word for it. */
function likelyName(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replace(/(ms|millis|milliseconds|seconds)$/, "");
  const [near] = known
    .map((one) => ({ one, edits: editsBetween(one.toLowerCase(), plain) }))
    .filter(({ one, edits }) => edits <= Math.min(2, one.length / 3))
    .sort((a, b) => a.edits - b.edits);
  return near?.one ?? SYNONYMS.get(plain)?.find((one) => known.includes(one));
}

/** Letters to insert, delete or replace to turn one text into another. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, letters) => letters);
  for (const letter of a) {
    let diagonal = row[0] as number;
    const next = [diagonal + 1];
    for (const [index, other] of [...b].entries()) {
      const above = row[index + 1] as number;
      const replaced = letter === other ? diagonal : diagonal + 1;
      next.push(Math.min(replaced, above + 1, (next[index] as number) + 1));
      diagonal = above;
    }
    row = next;
  }
  return row.at(-1) as number;
}
