import { isIPv4, isIPv6 } from "node:net";

const NUMBERS = "[0-9]{2}";
const TIME = new RegExp(
  `^(${NUMBERS}):(${NUMBERS}):(${NUMBERS})(\\.[0-9]+)?(z|[+-]${NUMBERS}:${NUMBERS})$`,
  "i",
);
const LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
/** One word with at most one dash, after its first letter, or labels that end in a name of letters. */
const HOSTNAME =
  /^([\p{L}\p{S}0-9](-?[\p{L}\p{S}0-9]{0,62})?|([\p{L}\p{S}0-9]([-\p{L}\p{S}0-9]{0,61}[\p{L}\p{S}0-9])?\.)+\p{L}{2,63})$/u;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const RGB = /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/;
const DURATION_UNIT = "(?:ns|nano|us|µs|micro|ms|milli|sec|min|hour|hr|day|week|wk|[smhdw])[a-z]*";

/** Whether a text has the form of a format. A format that is not here is not checked. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  byte: matches(/^(?=.)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  cidr: isCidr,
  creditcard: isCreditCard,
  date: isDate,
  "date-time": isDateTime,
  datetime: isDateTime,
  duration: matches(
    new RegExp(`^(0|[+-]?((\\d+(\\.\\d*)?|\\.\\d+)\\s*${DURATION_UNIT}\\s*)+)$`, "i"),
  ),
  email: matches(/^([^<>]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: (text) => isIPv4(withoutZeros(text.replace(/^::ffff:/i, ""))),
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  "k8s-long-name": (text) =>
    text.length <= 253 &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
  "k8s-short-name": matches(new RegExp(`^${LABEL}$`)),
  mac: isMac,
  password: () => true,
  rgbcolor: (text) =>
    RGB.exec(text)
      ?.slice(1)
      .every((part) => Number(part) <= 255) === true,
  ssn: matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  uri: isUri,
  uuid: matches(UUID),
  uuid3: (text) => UUID.test(text) && digitsOf(text)[12] === "3",
  uuid4: (text) =>
    UUID.test(text) && digitsOf(text)[12] === "4" && /[89ab]/i.test(digitsOf(text)[16] ?? ""),
  uuid5: (text) =>
    UUID.test(text) && digitsOf(text)[12] === "5" && /[89ab]/i.test(digitsOf(text)[16] ?? ""),
};

/** Whether a number is in the range of a format. */
export const NUMBER_FORMATS: Readonly<Record<string, (value: number) => boolean>> = {
  int32: (value) => value >= -(2 ** 31) && value < 2 ** 31,
  int64: (value) => value >= -(2 ** 63) && value < 2 ** 63,
  float: (value) => Math.abs(value) <= 3.4028234663852886e38,
};

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function digitsOf(text: string): string {
  return text.replaceAll("-", "");
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const date = new Date(`${text}T00:00:00Z`);
  return match !== null && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = "", time = "", ...more] = text.split(/t/i);
  const [, hours, minutes, seconds] = TIME.exec(time) ?? [];
  if (more.length > 0 || hours === undefined || !isDate(date)) return false;
  return Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60;
}

/** As old versions of Go read them: with zeros before the digits of an IPv4 address. */
function withoutZeros(text: string): string {
  return text.replace(/(^|\.)0+(?=\d)/g, "$1");
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...more] = text.split("/");
  if (more.length > 0 || !/^\d+$/.test(length)) return false;
  if (isIPv4(withoutZeros(address))) return Number(length) <= 32;
  return isIPv6(address) && !address.includes("%") && Number(length) <= 128;
}

function isMac(text: string): boolean {
  const digits = text.replace(/[-:.]/g, "");
  return (
    (/^([0-9a-f]{2}:)+[0-9a-f]{2}$/i.test(text) ||
      /^([0-9a-f]{2}-)+[0-9a-f]{2}$/i.test(text) ||
      /^([0-9a-f]{4}\.)+[0-9a-f]{4}$/i.test(text)) &&
    [12, 16, 40].includes(digits.length)
  );
}

function isUri(text: string): boolean {
  if (/\p{Cc}/u.test(text) || /%(?![0-9A-Fa-f]{2})/.test(text)) return false;
  if (text.startsWith("/")) return text !== "//";
  const [, rest] = /^[A-Za-z][-A-Za-z0-9+.]*:(.*)$/.exec(text) ?? [];
  if (rest === undefined) return false;
  const [, host = ""] = /^\/\/([^/?#]*)/.exec(rest) ?? [];
  if (host.includes(" ")) return false;
  return !host.includes("[") || /\[[0-9A-Fa-f:.]+\](:\d*)?$/.test(host);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (digit === "X" ? 10 : Number(digit)) * (10 - index),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3),
    0,
  );
  return sum % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, "");
  if (digits.length < 13 || digits.length > 19) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
