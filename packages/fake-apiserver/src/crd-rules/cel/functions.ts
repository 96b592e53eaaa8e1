// The functions of CEL that Kubernetes has, and the library has not.
import { types } from "node:util";
import { fromRe2 } from "@holdfast/kit/kubernetes";
import type { Environment, Optional } from "@marcbachmann/cel-js";
import { FORMATS } from "../validation/formats.ts";
import { formatText, pairsText } from "./format-text.ts";
import { addMacros } from "./macros.ts";
import { DURATION_TYPE, TIME_PARTS, TIMESTAMP_TYPE, times } from "./times.ts";
import { Cidr, compare, Ip, Quantity, Semver } from "./values.ts";

// biome-ignore lint/suspicious/noExplicitAny: the library hands over whatever the expression has
type Value = any;

type Library = Readonly<Record<string, (...values: Value[]) => Value>>;

const { isDate } = types;

/** A name that has functions, as `sets` in `sets.contains(a, b)`. */
class Namespace {}

/** A port has digits, and a name of a host no encoded letters of ASCII. */
const PORT = /^(?:\[[^\]]*\]|(?:[^:%#]|%[89a-f][\da-f])*)(?::\d*)?$/i;

/** The zone of an address of IPv6. */
const ZONE = /%25[^\]/]*\]/;

/** Text, scheme, host, path and query. */
function partsOf(text: string): [string, string, string, string, string] {
  const [, scheme = "", host = "", path = "", query = ""] =
    /^(?:([^:/?#]+):)?(?:\/\/(?:[^@/?]*@)?([^/?]*))?([^?#]*)(?:\?([^#]*))?/.exec(text) ?? [];
  // Go decodes the path, not the query.
  const before = text.replace(/\?.*/s, "");
  const isRight = text === "*" || known("uri")(before.replace(ZONE, "]"));
  if (!isRight || !isHost(scheme, host)) throw new Error("URL parse error");
  return [text, scheme, host, path, query];
}

/** Go reads no host from a URL without a scheme. */
function isHost(scheme: string, host: string): boolean {
  return scheme === "" || PORT.test(host);
}

class Url {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly text: string;

  constructor(text: string) {
    const [whole, scheme, host, path, query] = partsOf(text);
    this.text = whole;
    this.scheme = scheme.toLowerCase();
    this.host = host;
    this.path = path;
    this.query = query;
  }

  get hostname(): string {
    return this.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[.*\]/, ""))?.[1] ?? "";
  }

  get values(): Map<string, string[]> {
    const values = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(this.query))
      values.set(name, [...(values.get(name) ?? []), value]);
    return values;
  }
}

class Format {
  readonly check: (text: string) => boolean;
  readonly message: string;

  constructor(check: (text: string) => boolean, message: string) {
    this.check = check;
    this.message = message;
  }
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS1035 = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const QUALIFIED =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function known(name: string): (text: string) => boolean {
  return FORMATS[name] as (text: string) => boolean;
}

/** A prefix of a name may end in a dash. */
function prefixOf(check: (text: string) => boolean): (text: string) => boolean {
  return (text) => check(text.replace(/-$/, ""));
}

const NAMED: Readonly<Record<string, Format>> = Object.fromEntries(
  Object.entries({
    dns1123Label: (text: string) => LABEL.test(text),
    dns1123Subdomain: known("k8s-long-name"),
    dns1035Label: (text: string) => DNS1035.test(text),
    qualifiedName: (text: string) => QUALIFIED.test(text),
    dns1123LabelPrefix: prefixOf((text) => LABEL.test(text)),
    dns1123SubdomainPrefix: prefixOf(known("k8s-long-name")),
    dns1035LabelPrefix: prefixOf((text) => DNS1035.test(text)),
    labelValue: (text: string) => /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(text),
    uri: known("uri"),
    uuid: known("uuid"),
    byte: known("byte"),
    date: known("date"),
    datetime: known("datetime"),
  }).map(([name, check]) => [
    name,
    new Format(check, name === "dns1123Label" ? LABEL_MESSAGE : `must be a valid ${name}`),
  ]),
);

/** Whether two values of CEL are equal. */
function isSame(a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (isDate(a) && isDate(b)) return a.getTime() === b.getTime();
  if (typeof a === "number" || typeof b === "number") return Number(a) === Number(b);
  const [map, other] = [entriesOf(a), entriesOf(b)];
  return map && other ? isSameMap(map, other) : a === b;
}

type Entries = ReadonlyMap<Value, Value>;

function isSameMap(map: Entries, other: Entries): boolean {
  const isOther = ([name, value]: [Value, Value]): boolean =>
    other.has(name) && isSame(value, other.get(name));
  return map.size === other.size && [...map].every(isOther);
}

/** The entries of a map or an object. */
function entriesOf(value: Value): Entries | undefined {
  if (value instanceof Map) return value;
  return value?.constructor === Object ? new Map(Object.entries(value)) : undefined;
}

function isIn(list: Value[], item: Value): boolean {
  return list.some((one) => isSame(one, item));
}

function isParsed(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function sum(list: Value[]): Value {
  if (list.length === 0) return 0n;
  return list.reduce((a, b) => (typeof a?.addDuration === "function" ? a.addDuration(b) : a + b));
}

function best(list: Value[], name: "min" | "max"): Value {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  const sign = name === "min" ? -1n : 1n;
  return list.reduce((a, b) => (compare(b, a) === sign ? b : a));
}

function sorted(list: Value[]): Value[] {
  return [...list].sort((a, b) => Number(compare(a, b)));
}

function distinct(list: Value[]): Value[] {
  return list.filter((item, index) => !isIn(list.slice(0, index), item));
}

function charAt(text: string, index: bigint): string {
  const letters = [...text];
  if (index < 0n || index > letters.length) throw new Error(`index out of range: ${index}`);
  return letters[Number(index)] ?? "";
}

function replace(text: string, old: string, next: string, count = -1n): string {
  const parts = old === "" ? ["", ...text, ""] : text.split(old);
  const head = parts.splice(0, count < 0n ? parts.length : Number(count) + 1);
  return [head.join(next), ...parts].join(old);
}

function findAll(text: string, pattern: string, limit = -1n): string[] {
  let end = -1;
  const found = [...text.matchAll(new RegExp(fromRe2(pattern), "gu"))].filter((match) => {
    // Go leaves out an empty match right behind another one.
    const isLeftOut = match[0] === "" && match.index === end;
    end = match.index + match[0].length;
    return !isLeftOut;
  });
  return found.map(([match]) => match).slice(0, limit < 0n ? undefined : Number(limit));
}

function indexIn(length: number, index: bigint): number {
  if (index < 0n || index > length) throw new Error(`index out of range: ${index}`);
  return Number(index);
}

function indexOf(text: string, part: string, start = 0n): bigint {
  const letters = [...text];
  if (start >= letters.length && part !== "") return -1n;
  const from = indexIn(letters.length, start);
  const found = letters.slice(from).join("").indexOf(part);
  if (found === -1) return -1n;
  return BigInt(from + [...letters.slice(from).join("").slice(0, found)].length);
}

function lastIndexOf(text: string, part: string, end?: bigint): bigint {
  const letters = [...text];
  const last = end === undefined ? letters.length : indexIn(letters.length, end);
  const before = letters.slice(0, last + [...part].length).join("");
  const found = before.lastIndexOf(part);
  return found === -1 ? -1n : BigInt([...before.slice(0, found)].length);
}

function substring(text: string, start: bigint, end?: bigint): string {
  const letters = [...text];
  const [from, to] = [start, end ?? BigInt(letters.length)].map((one) =>
    indexIn(letters.length, one),
  ) as [number, number];
  if (from > to) throw new Error(`invalid substring range. start: ${from}, end: ${to}`);
  return letters.slice(from, to).join("");
}

const QUOTED: Readonly<Record<string, string>> = {
  ...{ "\x07": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" },
  ...{ "\v": "\\v", "\\": "\\\\", '"': '\\"' },
};

function quote(text: string): string {
  return `"${[...text].map((letter) => QUOTED[letter] ?? letter).join("")}"`;
}

function slice(list: Value[], start: bigint, end: bigint): Value[] {
  const call = `cannot slice(${start}, ${end}),`;
  if (start < 0n || end < 0n) throw new Error(`${call} negative indexes not supported`);
  if (start > end) throw new Error(`${call} start index must be less than or equal to end index`);
  if (end > list.length) throw new Error(`${call} list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

function range(count: bigint): bigint[] {
  if (count < 0n) throw new Error(`lists.range: size must be non-negative, got ${count}`);
  return Array.from({ length: Number(count) }, (_, index) => BigInt(index));
}

/** Functions that the library has with another result. They have names of their own here. */
const REPLACED: ReadonlySet<string> = new Set([
  ...["has", "matches", "timestamp", "duration", "lowerAscii", "upperAscii"],
  ...["indexOf", "lastIndexOf", "substring"],
  // Not a function of Kubernetes.
  "bind",
  ...Object.keys(TIME_PARTS),
]);

/** The start of the names of such functions. */
export const OWN = "kubernetes_";

function own(name: string): string {
  return `${OWN}${name}`;
}

/** Literals, and names in front of an argument list. */
const TOKENS =
  /[bB]?[rR][bB]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*')|"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*|\b([A-Za-z_]\w*)(?=\s*\()/g;

/** An expression that calls the functions of Kubernetes instead of those of the library. */
export function forLibrary(expression: string): string {
  return expression.replace(TOKENS, (text, name?: string) =>
    name !== undefined && REPLACED.has(name) ? own(name) : text,
  );
}

const STRINGS: Library = {
  [`string.${own("matches")}(string): bool`]: (text, pattern) => fromRe2(pattern).test(text),
  [`${own("matches")}(string, string): bool`]: (text, pattern) => fromRe2(pattern).test(text),
  [`string.${own("lowerAscii")}(): string`]: (text: string) =>
    text.replace(/[A-Z]+/g, (part) => part.toLowerCase()),
  [`string.${own("upperAscii")}(): string`]: (text: string) =>
    text.replace(/[a-z]+/g, (part) => part.toUpperCase()),
  "string.charAt(int): string": charAt,
  "string.replace(string, string): string": replace,
  "string.replace(string, string, int): string": replace,
  "string.format(list): string": formatText,
  "string.find(string): string": (text, pattern) => findAll(text, pattern)[0] ?? "",
  "string.findAll(string): list<string>": findAll,
  "string.findAll(string, int): list<string>": findAll,
  "Strings.quote(string): string": (_, text) => quote(text),
  [`string.${own("indexOf")}(string): int`]: indexOf,
  [`string.${own("indexOf")}(string, int): int`]: indexOf,
  [`string.${own("lastIndexOf")}(string): int`]: lastIndexOf,
  [`string.${own("lastIndexOf")}(string, int): int`]: lastIndexOf,
  [`string.${own("substring")}(int): string`]: substring,
  [`string.${own("substring")}(int, int): string`]: substring,
};

const LISTS: Library = {
  "Lists.range(int): list<int>": (_, count) => range(count),
  "list.isSorted(): bool": (list: Value[]) =>
    list.every((item, index) => index === 0 || compare(list[index - 1], item) <= 0n),
  "list.sum(): dyn": sum,
  "list.min(): dyn": (list) => best(list, "min"),
  "list.max(): dyn": (list) => best(list, "max"),
  [`list.${own("indexOf")}(dyn): int`]: (list: Value[], item) =>
    BigInt(list.findIndex((one) => isSame(one, item))),
  [`list.${own("lastIndexOf")}(dyn): int`]: (list: Value[], item) =>
    BigInt(list.map((one) => isSame(one, item)).lastIndexOf(true)),
  "list.flatten(): list": (list) => list.flat(),
  "list.flatten(int): list": (list, depth) => list.flat(Number(depth)),
  "list.slice(int, int): list": slice,
  "list.sort(): list": sorted,
  "list.distinct(): list": distinct,
  "list.reverse(): list": (list) => [...list].reverse(),
  "Sets.contains(list, list): bool": (_, a, b) => b.every((item: Value) => isIn(a, item)),
  "Sets.intersects(list, list): bool": (_, a, b) => b.some((item: Value) => isIn(a, item)),
  "Sets.equivalent(list, list): bool": (_, a, b) =>
    a.every((item: Value) => isIn(b, item)) && b.every((item: Value) => isIn(a, item)),
};

const URLS: Library = {
  "isURL(string): bool": (text) => isParsed(() => new Url(text)),
  "url(string): Url": (text) => new Url(text),
  "Url.getScheme(): string": (url) => url.scheme,
  "Url.getHost(): string": (url) => url.host,
  "Url.getHostname(): string": (url) => url.hostname,
  "Url.getPort(): string": (url) => url.port,
  "Url.getEscapedPath(): string": (url) =>
    url.path.replace(/[^\x21-\x7e]+/g, (part: string) => encodeURIComponent(part)),
  "Url.getQuery(): map": (url) => url.values,
};

const QUANTITIES: Library = {
  "isQuantity(string): bool": (text) => isParsed(() => Quantity.parse(text)),
  "quantity(string): Quantity": Quantity.parse,
  "sign(Quantity): int": (one) => one.sign,
  "Quantity.isInteger(): bool": (one) => one.integer !== undefined,
  "Quantity.asInteger(): int": (one) => {
    if (one.integer === undefined) throw new Error("cannot convert value to integer");
    return one.integer;
  },
  "Quantity.asApproximateFloat(): double": (one) => one.number,
  "Quantity.add(Quantity): Quantity": (one, other) => one.plus(other),
  "Quantity.add(int): Quantity": (one, other) => one.plus(other),
  "Quantity.sub(Quantity): Quantity": (one, other) => one.minus(other),
  "Quantity.sub(int): Quantity": (one, other) => one.minus(other),
  "Quantity.compareTo(Quantity): int": (one, other) => compare(one.nanos, other.nanos),
  "Quantity.isLessThan(Quantity): bool": (one, other) => one.nanos < other.nanos,
  "Quantity.isGreaterThan(Quantity): bool": (one, other) => one.nanos > other.nanos,
};

const ADDRESSES: Library = {
  "isIP(string): bool": (text) => isParsed(() => new Ip(text)),
  "ip(string): Ip": (text) => new Ip(text),
  "string(Ip): string": String,
  "IpNamespace.isCanonical(string): bool": (_, text) => new Ip(text).toString() === text,
  "Ip.family(): int": (ip) => BigInt(ip.family),
  "Ip.isUnspecified(): bool": (ip) => ip.bits === 0n,
  "Ip.isLoopback(): bool": (ip) => ip.isLoopback(),
  "Ip.isLinkLocalMulticast(): bool": (ip) => ip.isLinkLocalMulticast(),
  "Ip.isLinkLocalUnicast(): bool": (ip) => ip.isLinkLocalUnicast(),
  "Ip.isGlobalUnicast(): bool": (ip) => ip.isGlobalUnicast(),
  "isCIDR(string): bool": (text) => isParsed(() => new Cidr(text)),
  "cidr(string): Cidr": (text) => new Cidr(text),
  "string(Cidr): string": String,
  "Cidr.containsIP(Ip): bool": (cidr, ip) => cidr.contains(ip),
  "Cidr.containsIP(string): bool": (cidr, text) => cidr.contains(new Ip(text)),
  "Cidr.containsCIDR(Cidr): bool": (cidr, other) => cidr.containsCidr(other),
  "Cidr.containsCIDR(string): bool": (cidr, text) => cidr.containsCidr(new Cidr(text)),
  "Cidr.ip(): Ip": (cidr) => cidr.ip,
  "Cidr.prefixLength(): int": (cidr) => BigInt(cidr.length),
  "Cidr.masked(): Cidr": (cidr) => cidr.masked(),
};

const VERSIONS: Library = {
  "isSemver(string): bool": (text) => isParsed(() => new Semver(text)),
  "isSemver(string, bool): bool": (text, isNormalized) =>
    isParsed(() => new Semver(text, isNormalized)),
  "semver(string): Semver": (text) => new Semver(text),
  "semver(string, bool): Semver": (text, isNormalized) => new Semver(text, isNormalized),
  "Semver.major(): int": (one) => one.numbers[0],
  "Semver.minor(): int": (one) => one.numbers[1],
  "Semver.patch(): int": (one) => one.numbers[2],
  "Semver.compareTo(Semver): int": (one, other) => one.compareTo(other),
  "Semver.isLessThan(Semver): bool": (one, other) => one.compareTo(other) < 0n,
  "Semver.isGreaterThan(Semver): bool": (one, other) => one.compareTo(other) > 0n,
};

/** Whether a value is the zero of its type. */
function isZero(value: Value): boolean {
  if (typeof value?.seconds === "bigint") return value.valueOf() === 0;
  return !value || value.length === 0 || value.size === 0 || pairsText(value) === "{}";
}

/** The values of the optionals that have one. */
function present(list: Optional[]): Value[] {
  return list.filter((one) => one.hasValue()).map((one) => one.value());
}

function optionals(optional: typeof Optional): Library {
  return {
    ...Object.fromEntries(
      Object.entries(NAMED).map(([name, format]) => [
        `FormatNamespace.${name}(): Format`,
        () => format,
      ]),
    ),
    "FormatNamespace.named(string): optional": (_, name) =>
      Object.hasOwn(NAMED, name) ? optional.of(NAMED[name]) : optional.none(),
    "OptionalNamespace.ofNonZeroValue(dyn): optional": (_, value) =>
      isZero(value) ? optional.none() : optional.of(value),
    "OptionalNamespace.unwrap(list): list": (_, list) => present(list),
    "list.unwrapOpt(): list": present,
    "list.first(): optional": (list) => (list.length > 0 ? optional.of(list[0]) : optional.none()),
    "list.last(): optional": (list) =>
      list.length > 0 ? optional.of(list.at(-1)) : optional.none(),
    "Format.validate(string): optional": (format, text) =>
      format.check(text) ? optional.none() : optional.of([format.message]),
  };
}

/** Gives an environment the functions of Kubernetes. */
export function addFunctions(environment: Environment, optional: typeof Optional): void {
  const classes = { Url, Quantity, Ip, Cidr, Semver, Format };
  for (const [name, ctor] of Object.entries(classes))
    environment.registerType(name, { ctor, fields: {} });
  const namespaces = {
    sets: "Sets",
    strings: "Strings",
    lists: "Lists",
    ip: "IpNamespace",
    format: "FormatNamespace",
  };
  for (const [name, type] of Object.entries(namespaces)) {
    const ctor = class extends Namespace {};
    environment.registerType(type, { ctor, fields: {} });
    environment.registerConstant(name, type, new ctor());
  }
  // Its class is not public.
  const second = environment.evaluate("duration('1s')");
  const durationOf = (nanos: bigint): Value =>
    new second.constructor(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
  const libraries = [STRINGS, LISTS, URLS, QUANTITIES, ADDRESSES, VERSIONS];
  libraries.push(times(durationOf, own), optionals(optional));
  for (const library of libraries)
    for (const [signature, handler] of Object.entries(library))
      environment.registerFunction(signature, handler);
  addMacros(environment, optional, own);
  environment.registerOperator("optional == optional", (a: Optional, b: Optional) =>
    a.hasValue() && b.hasValue() ? isSame(a.value(), b.value()) : a.hasValue() === b.hasValue(),
  );
  for (const type of ["optional", TIMESTAMP_TYPE, DURATION_TYPE])
    environment.registerOperator(`${type} == null`, () => false);
  const order = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);
  environment.registerOperator("bytes < bytes", (a, b) => order(a, b) < 0);
  environment.registerOperator("bytes <= bytes", (a, b) => order(a, b) <= 0);
  environment.registerOperator("bytes > bytes", (a, b) => order(a, b) > 0);
  environment.registerOperator("bytes >= bytes", (a, b) => order(a, b) >= 0);
  environment.registerOperator("Url == Url", (a: Url, b: Url) => a.text === b.text);
  environment.registerOperator(
    "Quantity == Quantity",
    (a: Quantity, b: Quantity) => a.nanos === b.nanos,
  );
  environment.registerOperator("Ip == Ip", (a: Ip, b: Ip) => a.equals(b));
  environment.registerOperator("Cidr == Cidr", (a: Cidr, b: Cidr) => a.equals(b));
  environment.registerOperator("Semver == Semver", (a: Semver, b: Semver) => a.compareTo(b) === 0n);
}
