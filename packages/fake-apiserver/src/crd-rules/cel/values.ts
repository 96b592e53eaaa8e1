// Values of CEL that Kubernetes adds: IP addresses, quantities, versions. Each is immutable.
import { isIPv4, isIPv6 } from "node:net";

/** An IP address. */
export class Ip {
  readonly family: 4 | 6;
  readonly bits: bigint;

  /** @throws Error for text that is no address in a form that Kubernetes accepts */
  constructor(text: string) {
    const isMapped = /^::ffff:.*\./i.test(text);
    if (!isIPv4(text) && (!isIPv6(text) || text.includes("%") || isMapped))
      throw new Error(`IP Address ${JSON.stringify(text)} parse error`);
    this.family = isIPv4(text) ? 4 : 6;
    this.bits =
      this.family === 4 ? bitsOf(text.split("."), 10, 8n) : bitsOf(groupsOf(text), 16, 16n);
  }

  get size(): bigint {
    return this.family === 4 ? 32n : 128n;
  }

  /** The first bits of the address. */
  prefix(length: number): bigint {
    return this.bits >> (this.size - BigInt(length));
  }

  equals(other: Ip): boolean {
    return this.family === other.family && this.bits === other.bits;
  }

  isLoopback(): boolean {
    return this.family === 4 ? this.prefix(8) === 127n : this.bits === 1n;
  }

  isMulticast(): boolean {
    return this.family === 4 ? this.prefix(4) === 14n : this.prefix(8) === 255n;
  }

  isLinkLocalMulticast(): boolean {
    return this.family === 4
      ? this.prefix(24) === 0xe00000n
      : this.isMulticast() && (this.prefix(16) & 15n) === 2n;
  }

  isLinkLocalUnicast(): boolean {
    return this.family === 4 ? this.prefix(16) === 0xa9fen : this.prefix(10) === 0x3fan;
  }

  isGlobalUnicast(): boolean {
    const isBroadcast = this.family === 4 && this.bits === 0xffffffffn;
    const isOther = this.isLoopback() || this.isMulticast() || this.isLinkLocalUnicast();
    return this.bits !== 0n && !isBroadcast && !isOther;
  }

  toString(): string {
    if (this.family === 4)
      return [24n, 16n, 8n, 0n].map((shift) => (this.bits >> shift) & 255n).join(".");
    const digits = this.bits.toString(16).padStart(32, "0");
    const text = (digits.match(/.{4}/g) ?? []).join(":");
    return new URL(`http://[${text}]`).hostname.slice(1, -1);
  }
}

function bitsOf(parts: readonly string[], base: 10 | 16, width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(Number.parseInt(part, base)), 0n);
}

/** The eight groups of an IPv6 address. */
function groupsOf(text: string): string[] {
  const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::").map((part) => (part === "" ? [] : part.split(":")));
  if (tail === undefined) return head as string[];
  const missing = 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
}

/** A range of IP addresses. */
export class Cidr {
  readonly ip: Ip;
  readonly length: number;

  /** @throws Error for text that is no range */
  constructor(text: string) {
    const [, address = "", length = ""] = /^(.*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
    this.ip = new Ip(address);
    this.length = Number(length);
    if (length === "" || this.length > Number(this.ip.size))
      throw new Error(`network address parse error: ${JSON.stringify(text)}`);
  }

  contains(other: Ip): boolean {
    const { family } = this.ip;
    return other.family === family && other.prefix(this.length) === this.ip.prefix(this.length);
  }

  containsCidr(other: Cidr): boolean {
    return other.length >= this.length && this.contains(other.ip);
  }

  masked(): Cidr {
    const { ip, length } = this;
    const shift = ip.size - BigInt(length);
    const bits = ip.prefix(length) << shift;
    return new Cidr(
      `${Object.assign(Object.create(Ip.prototype), { family: ip.family, bits })}/${length}`,
    );
  }

  equals(other: Cidr): boolean {
    return this.length === other.length && this.ip.equals(other.ip);
  }

  toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

/** A base and its power. */
type Scale = readonly [bigint, number];

const SUFFIXES: Readonly<Record<string, Scale>> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  "": [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

const QUANTITY =
  /^(?<sign>[+-]?)(?<digits>\d+\.?\d*|\.\d+)(?:(?<suffix>[numkMGTPE]|[KMGTPE]i)?|[eE](?<exponent>[+-]?\d+))$/;

const NANO = 1_000_000_000n;

/** A quantity, as in `resources.requests`. Exact to the nano. */
export class Quantity {
  readonly nanos: bigint;

  /** Whether Go keeps it as a whole number: not for what it reads with a fraction, or with more than 18 digits. */
  readonly #isWhole: boolean;

  constructor(nanos: bigint, isWhole: boolean) {
    this.nanos = nanos;
    this.#isWhole = isWhole;
  }

  /** @throws Error for text that is no quantity */
  static parse(text: string): Quantity {
    const match = QUANTITY.exec(text);
    if (match === null)
      throw new Error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    const { sign, digits, suffix, exponent } = match.groups as Readonly<Record<string, string>>;
    const [whole = "", fraction = ""] = (digits as string).split(".");
    const [base, power] =
      exponent === undefined ? (SUFFIXES[suffix ?? ""] as Scale) : [10n, Number(exponent)];
    const up = base ** BigInt(Math.max(power, 0));
    const down = 10n ** BigInt(fraction.length) * base ** BigInt(Math.max(-power, 0));
    const nanos = (BigInt(whole + fraction) * NANO * up + down - 1n) / down;
    const count = whole.replace(/^0+/, "").length;
    const room =
      base === 10n ? 18 - count - fraction.length : 14 - count - Math.trunc((power * 3) / 10);
    const isWhole = room >= 0 && (base === 10n ? power >= fraction.length : fraction === "");
    return new Quantity(sign === "-" ? -nanos : nanos, isWhole);
  }

  /** Undefined if it is no integer of 64 bits. */
  get integer(): bigint | undefined {
    const value = this.nanos / NANO;
    return this.#isWhole && BigInt.asIntN(64, value) === value ? value : undefined;
  }

  get number(): number {
    return Number(this.nanos) / Number(NANO);
  }

  get sign(): bigint {
    return compare(this.nanos, 0n);
  }

  plus(other: Quantity | bigint): Quantity {
    const one = typeof other === "bigint" ? new Quantity(other * NANO, true) : other;
    return new Quantity(this.nanos + one.nanos, this.#isWhole && one.#isWhole);
  }

  minus(other: Quantity | bigint): Quantity {
    return this.plus(
      typeof other === "bigint" ? -other : new Quantity(-other.nanos, other.#isWhole),
    );
  }
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?!0\d+(?:[.+]|$))[0-9A-Za-z-]+(?:\.(?!0\d+(?:[.+]|$))[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** A semantic version. */
export class Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly labels: readonly string[];

  /**
   * @param isNormalized - whether a `v` in front, zeros in front and missing numbers are put right
   * @throws Error for text that is no version
   */
  constructor(text: string, isNormalized = false) {
    const [, major, minor, patch, labels] =
      SEMVER.exec(isNormalized ? normalized(text) : text) ?? [];
    if (major === undefined || minor === undefined || patch === undefined)
      throw new Error("No Major.Minor.Patch elements found");
    this.numbers = [BigInt(major), BigInt(minor), BigInt(patch)];
    this.labels = labels === undefined ? [] : labels.split(".");
  }

  compareTo(other: Semver): bigint {
    const order = this.numbers
      .map((number, index) => compare(number, other.numbers[index] as bigint))
      .find((one) => one !== 0n);
    if (order !== undefined) return order;
    if (this.labels.length === 0 || other.labels.length === 0)
      return compare(BigInt(other.labels.length), BigInt(this.labels.length));
    return compareLabels(this.labels, other.labels);
  }
}

function normalized(text: string): string {
  const [, core = "", rest = ""] = /^v?([^-+]*)(.*)$/.exec(text) ?? [];
  const numbers = core.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

function compareLabels(a: readonly string[], b: readonly string[]): bigint {
  for (const [index, label] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1n;
    if (label === other) continue;
    const areNumbers = /^\d+$/.test(label) && /^\d+$/.test(other);
    return areNumbers ? compare(BigInt(label), BigInt(other)) : compare(label, other);
  }
  return compare(BigInt(a.length), BigInt(b.length));
}

/** -1, 0 or 1. */
export function compare(a: unknown, b: unknown): bigint {
  const [left, right] = [a, b] as [bigint, bigint];
  if (left < right) return -1n;
  return left > right ? 1n : 0n;
}
