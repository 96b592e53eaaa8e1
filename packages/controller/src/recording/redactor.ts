import { isUtf8 } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { uuidFrom } from "@holdfast/kit";

/** Shortest text that is replaced in other texts. */
const SHORTEST = 8;

const DIGESTS = ["md5", "sha1", "sha256", "sha512"] as const;
const FACTOR = 31;
/** The weight of the character that leaves a window of eight. */
const LEAVING = (FACTOR ** 8 % 2 ** 32) | 0;

/** A text of a secret, and the text in its place. */
interface Form {
  readonly text: string;
  readonly by: string;
}

/**
 * Replaces secrets, and what is commonly made of them, in texts: as they are, in base64, with the escapes of JSON, and
 * their digests. Equal secrets become equal texts, of which nobody can tell the secret: the key is kept nowhere.
 */
export class Redactor {
  readonly #key = uuidFrom(undefined) + uuidFrom(undefined);
  readonly #derive: readonly ((secret: string) => string)[];
  readonly #known = new Set<string>();
  readonly #forms = new Map<number, Form[]>();
  /** Whether a window of eight characters may begin a form, by the low bits of its hash. */
  readonly #mayBegin = new Uint8Array(2 ** 16);

  constructor(derive: readonly ((secret: string) => string)[] = []) {
    this.#derive = derive;
  }

  /** The text in place of a secret, which is replaced in all later texts. */
  learn(secret: string, by: string = this.standIn(secret)): string {
    if (secret === "" || this.#known.has(secret)) return by;
    this.#known.add(secret);
    const derived = (make: (text: string) => string): void => this.#add(make(secret), make(by));
    for (const write of WRITINGS) derived(write);
    this.learnDigests(secret, by);
    for (const make of this.#derive) derived(make);
    return by;
  }

  /** The text in place of a secret. */
  standIn(secret: string): string {
    const mac = createHmac("sha256", this.#key).update(secret).digest("hex");
    return `redacted-${mac.slice(0, 32)}`;
  }

  /** Replaces the digests of a text in all later texts by those of another. */
  learnDigests(text: string | Uint8Array, by: string | Uint8Array): void {
    for (const algorithm of DIGESTS)
      for (const encoding of ["hex", "base64"] as const) {
        const digest = (one: string | Uint8Array): string =>
          createHash(algorithm).update(one).digest(encoding);
        this.#add(digest(text), digest(by));
      }
  }

  /** The text without secrets. */
  replace(text: string): string {
    if (this.#forms.size === 0 || text.length < SHORTEST) return text;
    let result = "";
    let copied = 0;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
      const from = at - SHORTEST + 1;
      if (from > copied) hash = (hash - Math.imul(LEAVING, text.charCodeAt(from - 1))) | 0;
      if (from < copied || this.#mayBegin[hash & 0xffff] === 0) continue;
      const found = this.#forms.get(hash)?.find((form) => text.startsWith(form.text, from));
      if (found === undefined) continue;
      result += text.slice(copied, from) + found.by;
      copied = from + found.text.length;
      at = copied - 1;
      hash = 0;
    }
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** Bytes without secrets: those of a text, or of anything else, in which secrets of ASCII are found. */
  replaceBytes(bytes: Uint8Array): Uint8Array {
    if (this.#forms.size === 0) return bytes;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const encoding = isUtf8(bytes) ? "utf8" : "latin1";
    const text = buffer.toString(encoding);
    const kept = this.replace(text);
    return kept === text ? bytes : Buffer.from(kept, encoding);
  }

  /** The texts of a value of JSON without secrets. */
  replaceIn(value: unknown): unknown {
    if (this.#forms.size === 0) return value;
    if (typeof value === "string") return this.replace(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((part) => this.replaceIn(part));
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, part]) => [this.replace(name), this.replaceIn(part)]),
    );
  }

  #add(text: string, by: string): void {
    if (text.length < SHORTEST) return;
    let hash = 0;
    for (let at = 0; at < SHORTEST; at++)
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
    const forms = this.#forms.get(hash) ?? [];
    if (forms.some((form) => form.text === text)) return;
    forms.push({ text, by });
    forms.sort((one, other) => other.text.length - one.text.length);
    this.#forms.set(hash, forms);
    this.#mayBegin[hash & 0xffff] = 1;
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** With the escapes of JSON that Go writes, and so the API server. */
function escapedByGo(text: string): string {
  return escaped(text).replaceAll(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Levels of JSON within JSON: a body has an annotation, which has an object, which has a file. */
const LEVELS = 3;

/** How a text is written in another: as it is, in JSON, in JSON within JSON, in base64. */
const WRITINGS: readonly ((text: string) => string)[] = [
  (text) => Buffer.from(text).toString("base64"),
  ...nested(LEVELS),
];

function nested(levels: number): ((text: string) => string)[] {
  if (levels === 0) return [(text) => text];
  return [
    (text) => text,
    ...nested(levels - 1).flatMap((write) => [
      (text: string) => escaped(write(text)),
      (text: string) => escapedByGo(write(text)),
    ]),
  ];
}
