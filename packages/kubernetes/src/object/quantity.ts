/** A quantity, or its text. A number counts as its text: `0.1` is a tenth. */
export type QuantityInput = Quantity | string | number;

/** Suffixes of a quantity: `M`, `Mi` or `e6`. */
type Form = "decimal" | "binary" | "exponent";

/** At most 300 characters, with a digit. */
const TEXT =
  /^(?=.{1,300}$)([+-]?)(?=\.?\d)(\d*)\.?(\d*)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,9}|)$/;

/** Powers of 1,000, from billionths on. */
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/** Powers of 1,024. */
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Billionths in 1. Kubernetes keeps no smaller part. */
const ONE = 1_000_000_000n;

const MAX_TEXT = 300;
const MAX_EXPONENT = 1_000;

/**
 * An amount of a resource as Kubernetes writes it: `100m`, `1.5Gi`, `1e3`. Exact to a billionth, and immutable.
 *
 * As in a server, a smaller part is rounded away from zero, and the text is canonical: without a fraction, with the largest
 * suffix that allows it. A sum has the suffixes of its first part (`M`, `Mi` or `e6`), or of the second if the first is 0.
 *
 * @remarks
 * Source: `Quantity` of k8s.io/apimachinery/pkg/api/resource. Differences: a text without a digit is refused, which Go
 * reads as 0; more than `9223372036854775807` with a binary suffix stays, which Go cuts; `1000E` stays, which Go writes as
 * `1`; texts such as `+1`, `05`, `5.` and `1e+3` become canonical, which Go keeps as they came.
 *
 * @example
 * ```ts
 * import { Quantity } from "@holdfast/kubernetes";
 *
 * const free = new Quantity("2Gi").subtract("0.5Gi");
 * console.log(String(free), free.compare("1G") > 0); // => 1536Mi true
 * const cpus = ["100m", "0.25", 1];
 * console.log(String(cpus.reduce((sum: Quantity, cpu) => sum.add(cpu), new Quantity(0)))); // => 1350m
 * ```
 */
export class Quantity {
  /** The amount in billionths. */
  readonly nanos: bigint;

  readonly #form: Form;

  /**
   * @param value - text of at most 300 characters, with an exponent from -1,000 to 1,000; or a number, or a quantity
   * @throws TypeError or RangeError for a value that is no quantity
   */
  constructor(value: QuantityInput);
  /** @internal */
  constructor(nanos: bigint, form: Form);
  constructor(value: QuantityInput | bigint, form?: Form) {
    if (form !== undefined) [this.nanos, this.#form] = [value as bigint, form];
    else if (value instanceof Quantity) [this.nanos, this.#form] = [value.nanos, value.#form];
    else [this.nanos, this.#form] = parse(value);
    Object.freeze(this);
  }

  /** The sum of both. */
  add(other: QuantityInput): Quantity {
    return this.#plus(new Quantity(other), 1n);
  }

  /** This without the other: may be negative. */
  subtract(other: QuantityInput): Quantity {
    return this.#plus(new Quantity(other), -1n);
  }

  /** -1 if this is less than the other, 0 if they are equal, 1 if it is more: for `sort`. */
  compare(other: QuantityInput): -1 | 0 | 1 {
    const { nanos } = new Quantity(other);
    if (this.nanos === nanos) return 0;
    return this.nanos < nanos ? -1 : 1;
  }

  /** The canonical text. */
  toString(): string {
    return format(this.nanos, this.#form);
  }

  /** The canonical text. */
  toJSON(): string {
    return this.toString();
  }

  #plus(other: Quantity, sign: bigint): Quantity {
    const form = this.nanos === 0n ? other.#form : this.#form;
    return new Quantity(this.nanos + sign * other.nanos, form);
  }
}

/** @throws TypeError or RangeError for a value that is no quantity */
function parse(value: unknown): readonly [nanos: bigint, form: Form] {
  const allowed = 'value must be a quantity such as "100m" or "1.5Gi"';
  if (typeof value !== "string" && typeof value !== "number")
    throw new TypeError(`${allowed}, got ${typeof value}`);
  const text = String(value).slice(0, MAX_TEXT + 1);
  const [, sign, whole = "", fraction = "", suffix = ""] = TEXT.exec(text) ?? [];
  const { form, factor, exponent } = scaleOf(suffix);
  if (sign === undefined || Math.abs(exponent) > MAX_EXPONENT)
    throw new RangeError(`${allowed}, got ${JSON.stringify(text)}`);
  const power = exponent + 9 - fraction.length;
  const digits = BigInt(whole + fraction) * factor * 10n ** BigInt(Math.max(power, 0));
  const divisor = 10n ** BigInt(Math.max(-power, 0));
  const nanos = (digits + divisor - 1n) / divisor;
  return [sign === "-" ? -nanos : nanos, form];
}

function scaleOf(suffix: string): { form: Form; factor: bigint; exponent: number } {
  const [decimal, binary] = [DECIMAL.indexOf(suffix), BINARY.indexOf(suffix)];
  if (decimal >= 0) return { form: "decimal", factor: 1n, exponent: 3 * decimal - 9 };
  if (binary >= 0) return { form: "binary", factor: 1_024n ** BigInt(binary), exponent: 0 };
  return { form: "exponent", factor: 1n, exponent: Number(suffix.slice(1)) };
}

function format(nanos: bigint, form: Form): string {
  const isLarge = nanos <= -1_024n * ONE || nanos >= 1_024n * ONE;
  if (form === "binary" && isLarge && nanos % ONE === 0n) {
    const [digits, power] = reduced(nanos / ONE, 1_024n, BINARY.length - 1);
    return `${digits}${BINARY[power]}`;
  }
  const isExponent = form === "exponent";
  const [digits, power] = reduced(nanos, 1_000n, isExponent ? Infinity : DECIMAL.length - 1);
  if (digits === 0n || power === 3) return String(digits);
  return `${digits}${isExponent ? `e${3 * power - 9}` : DECIMAL[power]}`;
}

/** Divides by `base` as long as nothing is lost, and at most `most` times. */
function reduced(amount: bigint, base: bigint, most: number): readonly [bigint, number] {
  let [rest, power] = [amount, 0];
  for (; rest !== 0n && rest % base === 0n && power < most; power++) rest /= base;
  return [rest, power];
}
