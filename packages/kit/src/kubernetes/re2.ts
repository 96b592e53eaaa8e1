// The patterns of Kubernetes are those of RE2, in Go's form: https://pkg.go.dev/regexp/syntax

/** A pattern that RE2 refuses, and with it a Kubernetes server. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Code points from the first to the last. */
type Range = readonly [first: number, last: number];

const LAST = 0x10ffff;
const NEWLINE = 10;

/** Classes of ASCII, by their names in `[[:name:]]`. */
const POSIX: ReadonlyMap<string, readonly Range[]> = new Map(
  Object.entries({
    alnum: "09AZaz",
    alpha: "AZaz",
    ascii: "\0\x7f",
    blank: "\t\t  ",
    cntrl: "\0\x1f\x7f\x7f",
    digit: "09",
    graph: "!~",
    lower: "az",
    print: " ~",
    punct: "!/:@[`{~",
    space: "\t\r  ",
    upper: "AZ",
    word: "09AZ__az",
    xdigit: "09AFaf",
  }).map(([name, ends]) => [name, rangesOfEnds(ends)]),
);

/** Classes by the letter of their escape. */
const PERL: ReadonlyMap<string, readonly Range[]> = new Map(
  Object.entries({ d: "09", s: "\t\n\f\r  ", w: "09AZ__az" }).map(([name, ends]) => [
    name,
    rangesOfEnds(ends),
  ]),
);

const CONTROLS: ReadonlyMap<string, number> = new Map(
  Object.entries({ a: 7, f: 12, n: NEWLINE, r: 13, t: 9, v: 11 }),
);

const known = new Map<string, RegExp | PatternError>();

/**
 * The regular expression of JavaScript that finds the same texts as a pattern of RE2.
 *
 * @throws PatternError for a pattern that RE2 refuses
 */
export function fromRe2(pattern: string): RegExp {
  const found = known.get(pattern) ?? translated(pattern);
  known.set(pattern, found);
  if (found instanceof PatternError) throw found;
  return found;
}

function translated(pattern: string): RegExp | PatternError {
  try {
    return new RegExp(new Translation(pattern).all(), "u");
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

/** A part of a pattern in JavaScript. */
interface Part {
  readonly source: string;

  /** How often the part repeats what is in it, at most. RE2 allows 1,000. */
  readonly repeats: number;
}

/** Reads a pattern once, from the left. */
class Translation {
  readonly #pattern: string;
  readonly #names = new Set<string>();
  #flags: Flags = { i: false, m: false, s: false, U: false };
  #rest: string;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#rest = pattern;
  }

  all(): string {
    const { source } = this.#alternatives();
    if (this.#rest !== "") throw this.#error("unexpected )");
    return source;
  }

  /** Up to the end of the group. Flags that are set in a group end with it. */
  #alternatives(): Part {
    const { i, m, s, U } = this.#flags;
    const parts: Part[] = [this.#sequence()];
    while (this.#take(/^\|/)) parts.push(this.#sequence());
    this.#flags = { i, m, s, U };
    return join(parts, "|");
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#rest !== "" && !/^[|)]/.test(this.#rest)) {
      const part = this.#quoted() ?? this.#part();
      if (part !== undefined) parts.push(this.#repeated(part));
    }
    return join(parts, "");
  }

  /** `\Q`, a literal text, `\E`: all its letters but the last, which may repeat. */
  #quoted(): Part | undefined {
    const [, text] = this.#take(/^\\Q(.*?)(?:\\E|$)/su) ?? [];
    if (text === undefined) return undefined;
    const letters = [...text].map((letter) => this.#literal(codeOf(letter)));
    const last = letters.pop();
    if (last === undefined) return { source: "", repeats: 1 };
    return join([...letters, this.#repeated(last)], "");
  }

  /** Undefined for a group that only sets flags. */
  #part(): Part | undefined {
    if (REPETITION.test(this.#rest)) throw this.#error("missing argument to repetition operator");
    if (this.#rest.startsWith("(")) return this.#group();
    return { source: this.#single(), repeats: 1 };
  }

  #single(): string {
    const [first = ""] = this.#rest;
    switch (first) {
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      case ".":
        this.#skip(1);
        return this.#flags.s ? classOf([[0, LAST]]) : classOf(inverse([[NEWLINE, NEWLINE]]));
      case "^":
        this.#skip(1);
        return this.#flags.m ? "(?:^|(?<=\\n))" : "^";
      case "$":
        this.#skip(1);
        return this.#flags.m ? "(?:$|(?=\\n))" : "$";
      default:
        this.#skip(first.length);
        return this.#literal(codeOf(first)).source;
    }
  }

  #literal(code: number): Part {
    return { source: classOf(this.#folded([[code, code]])), repeats: 1 };
  }

  #group(): Part | undefined {
    const before = this.#flags;
    if (!this.#rest.startsWith("(?")) this.#skip(1);
    else if (!this.#named() && this.#setFlags() === "all") return undefined;
    const { source, repeats } = this.#alternatives();
    if (!this.#take(/^\)/)) throw this.#error("missing closing )");
    this.#flags = before;
    return { source: `(?:${source})`, repeats };
  }

  #named(): boolean {
    const [, name] = this.#take(/^\(\?P?<(\w+)>/) ?? [];
    if (name === undefined) return false;
    if (this.#names.has(name)) throw this.#error("duplicate capture group name");
    this.#names.add(name);
    return true;
  }

  /** Sets flags for a group, or for all that comes. */
  #setFlags(): "group" | "all" {
    const [text, on = "", off = "", end] =
      this.#take(/^\(\?(?!\))([imsU]*)(?:-([imsU]+))?([:)])/) ?? [];
    if (text === undefined) throw this.#error("invalid or unsupported Perl syntax");
    const set = { ...this.#flags };
    for (const name of on) set[name as keyof Flags] = true;
    for (const name of off) set[name as keyof Flags] = false;
    this.#flags = set;
    return end === ")" ? "all" : "group";
  }

  #repeated(part: Part): Part {
    const [text, operator = "", lazy] = this.#take(/^([*+?]|\{\d+(?:,\d*)?\})(\?)?/) ?? [];
    if (text === undefined) return part;
    if (REPETITION.test(this.#rest)) throw this.#error("invalid nested repetition operator");
    const repeats = part.repeats * timesOf(operator);
    // It is NaN for a limit below the least.
    if (!(repeats <= 1_000)) throw this.#error("invalid repeat count");
    const isLazy = (lazy === "?") !== this.#flags.U;
    // JavaScript repeats no edge by itself.
    const source = /^(?:\^|\$|\\[bB])?$/.test(part.source) ? `(?:${part.source})` : part.source;
    return { source: `${source}${operator}${isLazy ? "?" : ""}`, repeats };
  }

  #escape(): string {
    if (this.#take(/^\\A/)) return "^";
    if (this.#take(/^\\z/)) return "$";
    const [, edge] = this.#take(/^\\([bB])/) ?? [];
    if (edge !== undefined) return `\\${edge}`;
    const ranges = this.#classEscape();
    if (ranges !== undefined) return classOf(ranges);
    return this.#literal(this.#code()).source;
  }

  /** `\d`, `\pL`, `\p{Greek}` and their opposites. */
  #classEscape(): readonly Range[] | undefined {
    const [, perl] = this.#take(/^\\([dswDSW])/) ?? [];
    if (perl !== undefined) {
      const ranges = this.#folded(PERL.get(perl.toLowerCase()) as readonly Range[]);
      return perl === perl.toLowerCase() ? ranges : inverse(ranges);
    }
    const [text, sign, short, hat, long] =
      this.#take(/^\\([pP])(?:([^{])|\{(\^?)([^}]*)\})/u) ?? [];
    if (text === undefined) return undefined;
    const ranges = this.#folded(this.#property(short ?? long ?? ""));
    return (sign === "P") === (hat === "^") ? ranges : inverse(ranges);
  }

  #property(name: string): readonly Range[] {
    if (name === "Any") return [[0, LAST]];
    const text = /^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`;
    try {
      return rangesOfProperty(text);
    } catch {
      throw this.#error("invalid character class range");
    }
  }

  /** The code point of an escape. */
  #code(): number {
    const [, short, long, octal, control, other] =
      this.#take(
        /^\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}|([1-7][0-7]{1,2}|0[0-7]{0,2})|([afnrtv])|([^A-Za-z0-9\u0080-\u{10FFFF}]))/u,
      ) ?? [];
    if (octal !== undefined) return Number.parseInt(octal, 8);
    if (control !== undefined) return CONTROLS.get(control) as number;
    if (other !== undefined) return codeOf(other);
    const code = Number.parseInt(short ?? long ?? "", 16);
    if (code <= LAST) return code;
    throw this.#error(this.#rest === "\\" ? "trailing backslash" : "invalid escape sequence");
  }

  #class(): string {
    const [, hat] = this.#take(/^\[(\^?)/) ?? [];
    const ranges: Range[] = [];
    do ranges.push(...(this.#classEscape() ?? this.#posix() ?? this.#range()));
    while (!this.#take(/^\]/));
    return classOf(hat === "^" ? inverse(ranges) : ranges);
  }

  #posix(): readonly Range[] | undefined {
    const [, hat, name] = this.#take(/^\[:(\^?)(.*?):\]/s) ?? [];
    if (name === undefined) return undefined;
    const found = POSIX.get(name);
    if (found === undefined) throw this.#error("invalid character class range");
    const ranges = this.#folded(found);
    return hat === "^" ? inverse(ranges) : ranges;
  }

  #range(): readonly Range[] {
    const first = this.#member();
    if (!this.#take(/^-(?=[^\]])/s)) return this.#folded([[first, first]]);
    const last = this.#member();
    if (last < first) throw this.#error("invalid character class range");
    return this.#folded([[first, last]]);
  }

  #member(): number {
    const [first = ""] = this.#rest;
    if (first === "") throw this.#error("missing closing ]");
    if (first === "\\") return this.#code();
    this.#skip(first.length);
    return codeOf(first);
  }

  #folded(ranges: readonly Range[]): readonly Range[] {
    return this.#flags.i ? folded(ranges) : ranges;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.#rest) ?? undefined;
    if (match !== undefined) this.#skip(match[0].length);
    return match;
  }

  #skip(length: number): void {
    this.#rest = this.#rest.slice(length);
  }

  #error(problem: string): PatternError {
    const near = this.#rest === "" ? "at its end" : `at ${JSON.stringify(this.#rest.slice(0, 20))}`;
    return new PatternError(`${problem} ${near} of the pattern ${JSON.stringify(this.#pattern)}`);
  }
}

const REPETITION = /^(?:[*+?]|\{\d+(?:,\d*)?\})/;

/** How often an operator repeats, at most; at least once. */
function timesOf(operator: string): number {
  const [, least = "1", , most = ""] = /^\{(\d+)(,?)(\d*)\}$/.exec(operator) ?? [];
  if (most !== "" && Number(least) > Number(most)) return Number.NaN;
  return Math.max(1, Number(least), Number(most));
}

function join(parts: readonly Part[], separator: string): Part {
  return {
    source: parts.map(({ source }) => source).join(separator),
    repeats: Math.max(1, ...parts.map(({ repeats }) => repeats)),
  };
}

function codeOf(letter: string): number {
  return letter.codePointAt(0) as number;
}

function rangesOfEnds(ends: string): readonly Range[] {
  const codes = [...ends].map(codeOf);
  return codes.flatMap((code, at) => (at % 2 === 0 ? [[code, codes[at + 1] as number]] : []));
}

/** A letter, or a class of JavaScript. */
function classOf(ranges: readonly Range[]): string {
  const [[first, last] = [0, 0]] = ranges;
  if (ranges.length === 1 && first === last) return letterOf(first);
  // No letter at all.
  if (ranges.length === 0) return "[^\\s\\S]";
  const parts = ranges.map(([from, to]) =>
    from === to ? letterOf(from) : `${letterOf(from)}-${letterOf(to)}`,
  );
  return `[${parts.join("")}]`;
}

/** A code point in a regular expression, within a class too. fast-check reads no number of six digits. */
function letterOf(code: number): string {
  const letter = String.fromCodePoint(code);
  return /^[A-Za-z0-9\u{10000}-\u{10FFFF}]$/u.test(letter) ? letter : `\\u{${code.toString(16)}}`;
}

/** Every code point that is in none of the ranges. */
function inverse(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  let next = 0;
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    if (first > next) result.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= LAST) result.push([next, LAST]);
  return result;
}

const properties = new Map<string, readonly Range[]>();

/** @throws SyntaxError for a property that Unicode does not have */
function rangesOfProperty(name: string): readonly Range[] {
  const found = properties.get(name);
  if (found !== undefined) return found;
  const pattern = new RegExp(`^\\p{${name}}$`, "u");
  const ranges: [number, number][] = [];
  for (let code = 0; code <= LAST; code++) {
    if (!pattern.test(String.fromCodePoint(code))) continue;
    const latest = ranges.at(-1);
    if (latest?.[1] === code - 1) latest[1] = code;
    else ranges.push([code, code]);
  }
  properties.set(name, ranges);
  return ranges;
}

/** The letters that differ in case alone, by each of them. Made with the first pattern that ignores case. */
let cases: ReadonlyMap<number, ReadonlySet<number>> | undefined;

/** Above it no letter has a case. */
const LAST_CASED = 0x1e943;

function letterCases(): ReadonlyMap<number, ReadonlySet<number>> {
  const groups = new Map<number, Set<number>>();
  for (let code = 0; code <= LAST_CASED; code++) {
    // The dotted and the dotless i of Turkish fold to nothing.
    if (code === 0x130 || code === 0x131) continue;
    const letter = String.fromCodePoint(code);
    const others = [letter.toLowerCase(), letter.toUpperCase()]
      .filter((other) => other !== letter && [...other].length === 1)
      .map(codeOf);
    if (others.length === 0) continue;
    const group = new Set([code, ...others].flatMap((one) => [one, ...(groups.get(one) ?? [])]));
    for (const one of group) groups.set(one, group);
  }
  return groups;
}

/** Ranges, and every letter that differs from one in them by its case alone. */
function folded(ranges: readonly Range[]): readonly Range[] {
  cases ??= letterCases();
  const isIn = (code: number) => ranges.some(([first, last]) => first <= code && code <= last);
  const groups = [...cases].filter(([code]) => isIn(code)).map(([, group]) => group);
  const more = new Set(groups.flatMap((group) => [...group]).filter((code) => !isIn(code)));
  return [...ranges, ...[...more].map((code): Range => [code, code])];
}
