/** What stands in a text in place of a secret. */
const HIDDEN = "[hidden]";

/** Shorter parts guard nothing, and occur in any text. */
const SHORTEST = 4;

/** Headers that hold no credential. All others may. */
const HARMLESS =
  /^(accept(-.*)?|cache-control|connection|content-.*|date|expect|host|idempotency-key|if-.*|impersonate-.*|keep-alive|pragma|prefer|range|te|traceparent|tracestate|trailer|transfer-encoding|upgrade|user-agent|x-request-id)$/i;

/** What stands before a credential in `Authorization`. */
const SCHEME = /^(apikey|basic|bearer|digest|hmac|key|negotiate|token)$/i;

/** Escapes of percent-encoding, JSON, HTML and programs. */
const ESCAPE =
  /%([\da-f]{2})|\\u([\da-f]{4})|\\x([\da-f]{2})|&#x([\da-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|\\([\\/"'])/gi;
/** The start of one at the end of a text that was cut. */
const HALF_ESCAPE = /(%[\da-f]?|\\(u[\da-f]{0,3}|x[\da-f]?)?|&[#a-z\d]{0,7})$/i;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};
/** A text may have been escaped twice. */
const DEPTH = 3;

/** What was sent to a server. Every header but the harmless ones counts as a credential. */
export interface Sent {
  readonly url?: URL | undefined;
  readonly headers?: Iterable<readonly [name: string, value: string]> | undefined;
}

/**
 * Takes the credentials of a request out of texts of its server, which may repeat them: as they are, in base64, or with the
 * escapes of a URL, of JSON or of HTML, and also cut off at the end of the text. Parts of fewer than four characters stay.
 *
 * The secrets are the values of headers and their parts, the user, the password, the query and the path of the URL.
 */
export class Secrets {
  readonly #plain: readonly string[];
  readonly #coded: readonly string[];
  /** The last text without a secret: a server sends the same kind again and again. */
  #clean = "";

  constructor({ url, headers = [] }: Sent) {
    const secrets = new Set<string>();
    for (const [name, value] of headers)
      if (!HARMLESS.test(name)) for (const part of partsOfHeader(value)) secrets.add(part);
    if (url !== undefined) for (const part of partsOfUrl(url)) secrets.add(part);
    const all = [...secrets].filter(({ length }) => length >= SHORTEST);
    this.#plain = [...new Set(all.flatMap(spellings).map(folded))];
    this.#coded = [...new Set(all.flatMap(inBase64))].filter(({ length }) => length >= SHORTEST);
  }

  /** The text without the secrets. */
  hide(text: string): string {
    if (text === this.#clean) return text;
    const ranges: Range[] = [];
    let level: Level = { text, at: Array.from({ length: text.length + 1 }, (_, index) => index) };
    for (let depth = 0; depth <= DEPTH; depth++) {
      ranges.push(...this.#found(level));
      const next = unescaped(level);
      if (next.text === level.text) break;
      level = next;
    }
    if (ranges.length === 0) this.#clean = text;
    return without(text, ranges);
  }

  #found({ text, at }: Level): Range[] {
    const here = (from: number, to: number): Range => [at[from] as number, at[to] as number];
    const plain = occurrences(folded(text), this.#plain).map(([from, to]) => here(from, to));
    const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
    // With the characters around, which hold bits of the first and the last byte.
    const coded = occurrences(base64, this.#coded).map(([from, to]) =>
      here(from - run(base64, from - 1, -1), to + run(base64, to, 1)),
    );
    return [...plain, ...coded];
  }
}

/** A value of JSON with its texts and names as `hide` returns them. What is deeper than `levels` is left out. */
export function hideIn(value: unknown, hide: (text: string) => string, levels = 20): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return HIDDEN;
  const within = (one: unknown) => hideIn(one, hide, levels - 1);
  if (Array.isArray(value)) return value.map(within);
  const entries = Object.entries(value).map(([name, one]) => [hide(name), within(one)]);
  return Object.fromEntries(entries);
}

/** From the first character to before the last. */
type Range = readonly [from: number, to: number];

/** A text after some unescaping, and where each of its characters began. */
interface Level {
  readonly text: string;
  readonly at: readonly number[];
}

function* partsOfHeader(value: string): Generator<string> {
  yield value;
  yield value.replace(/^\S+\s+/, ""); // without the scheme
  for (const part of [...value.split(/;\s*/), ...value.split(/[\s,;]+/)]) {
    if (SCHEME.test(part)) continue;
    yield part;
    yield part.replace(/^[^=]*=/, "").replace(/^"(.*)"$/, "$1");
  }
  const [, basic] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  const pair = basic === undefined ? undefined : fromBase64(basic);
  if (pair === undefined) return;
  yield pair;
  yield pair.slice(pair.indexOf(":") + 1);
}

function* partsOfUrl({ username, password, search, searchParams, pathname, hash }: URL) {
  yield* [username, password, search.slice(1), pathname, hash.slice(1)].flatMap(decoded);
  yield* pathname.split("/").flatMap(decoded);
  yield* searchParams.values();
}

/** A part of a URL, as it stands there and as it was meant. A percent sign may be meant itself. */
function decoded(text: string): string[] {
  const bytes = binary(new TextEncoder().encode(text)).replace(/%([\da-f]{2})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return [text, new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)))];
}

/** A secret by its characters, by its bytes, and with the spaces of a form. */
function spellings(secret: string): string[] {
  return [secret, binary(new TextEncoder().encode(secret))].flatMap((one) => [
    one,
    one.replaceAll(" ", "+"),
  ]);
}

const binary = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Lower case, of as many characters. */
function folded(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** What base64 makes of a secret inside a longer text: it depends on the number of bytes before, by three. */
function inBase64(secret: string): string[] {
  const all = [new TextEncoder().encode(secret)];
  const codes = Array.from(secret, (one) => one.charCodeAt(0));
  if (codes.every((code) => code <= 0xff)) all.push(Uint8Array.from(codes));
  return all.flatMap((bytes) =>
    [0, 1, 2].map((shift) => {
      const text = btoa("\0".repeat(shift) + binary(bytes));
      const whole = Math.floor(((bytes.length + shift) * 8) / 6);
      return text.slice(Math.ceil((shift * 8) / 6), whole);
    }),
  );
}

function fromBase64(text: string): string | undefined {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return undefined;
  }
}

/** Where secrets stand in a text, or at its end the beginning of one. */
function occurrences(text: string, secrets: readonly string[]): Range[] {
  return secrets.flatMap((secret) => {
    const found: Range[] = [];
    for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + 1))
      found.push([from, from + secret.length]);
    const whole = text.replace(HALF_ESCAPE, "");
    const most = Math.min(secret.length - 1, whole.length);
    for (let length = most; length >= SHORTEST; length--)
      if (whole.endsWith(secret.slice(0, length)))
        return [...found, [whole.length - length, text.length]];
    return found;
  });
}

/** How many characters of base64 are before or after a place, one beside the other. */
function run(text: string, from: number, step: 1 | -1): number {
  let length = 0;
  while (/[A-Za-z\d+/=]/.test(text.charAt(from + step * length))) length++;
  return length;
}

function unescaped({ text, at }: Level): Level {
  let result = "";
  const places: number[] = [];
  let last = 0;
  const copy = (to: number): void => {
    result += text.slice(last, to);
    for (let index = last; index < to; index++) places.push(at[index] as number);
  };
  for (const match of text.matchAll(ESCAPE)) {
    copy(match.index);
    const one = characterOf(match);
    result += one;
    for (let index = 0; index < one.length; index++) places.push(at[match.index] as number);
    last = match.index + match[0].length;
  }
  copy(text.length);
  places.push(at[text.length] as number);
  return { text: result, at: places };
}

function characterOf([
  ,
  percent,
  json,
  byte,
  hex,
  decimal,
  named,
  quoted,
]: RegExpExecArray): string {
  const name = named?.toLowerCase();
  if (name !== undefined) return NAMED[name] as string;
  if (quoted !== undefined) return quoted;
  const point = Number(decimal ?? `0x${percent ?? json ?? byte ?? hex}`);
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : "\ufffd";
}

function without(text: string, ranges: readonly Range[]): string {
  let result = "";
  let end = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (to <= end) continue;
    if (from >= end) result += `${text.slice(end, from)}${HIDDEN}`;
    end = to;
  }
  return result + text.slice(end);
}
