import { isUtf8 } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { uuidFrom } from "@holdfast/kit";

/** Shortest text that is replaced in other texts. */
const SHORTEST = 8;

const FACTOR = 31;
/** The weight of the character that leaves a window of eight. */
const LEAVING = (FACTOR ** 8 % 2 ** 32) | 0;

/** What a program makes of a secret. */
type Make = (text: string | Uint8Array) => string;

/** A text of a secret, and the text in its place. There are a dozen of each secret: they are kept small. */
interface Form {
  readonly text: string;
  /** What is made of this is the text in its place. */
  readonly by: string | Uint8Array;
  readonly make: Make;
  /** The next shorter one with the same first eight characters. */
  next: Form | undefined;
}

/**
 * Replaces secrets, and what is commonly made of them, in texts: as they are, in base64, with the escapes of JSON, and
 * their digests. Equal secrets become equal texts, of which nobody can tell the secret: the key is kept nowhere.
 */
export class Redactor {
  readonly #key = uuidFrom(undefined) + uuidFrom(undefined);
  readonly #makes: readonly Make[];
  readonly #known = new Set<string>();
  readonly #forms = new Map<number, Form>();
  /** Whether a window of eight characters may begin a form, by the low bits of its hash. */
  readonly #mayBegin = new Uint8Array(2 ** 16);

  constructor(derive: readonly ((secret: string) => string)[] = []) {
    this.#makes = [...WRITINGS, ...DIGESTS, ...(derive as readonly Make[])];
  }

  /** The text in place of a secret, which is replaced in all later texts. */
  learn(secret: string, by: string = this.standIn(secret)): string {
    if (secret === "" || this.#known.has(secret)) return by;
    this.#known.add(secret);
    for (const make of this.#makes) this.#add(make(secret), by, make);
    return by;
  }

  /** The text in place of a secret. */
  standIn(secret: string): string {
    const mac = createHmac("sha256", this.#key).update(secret).digest("hex");
    return `redacted-${mac.slice(0, 32)}`;
  }

  /** Replaces the digests of a text in all later texts by those of another. */
  learnDigests(text: string | Uint8Array, by: string | Uint8Array): void {
    for (const digest of DIGESTS) this.#add(digest(text), digest(by), asItIs);
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
      const found = formAt(this.#forms.get(hash), text, from);
      if (found === undefined) continue;
      result += text.slice(copied, from) + found.make(found.by);
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

  #add(text: string, by: string | Uint8Array, make: Make): void {
    if (text.length < SHORTEST) return;
    let hash = 0;
    for (let at = 0; at < SHORTEST; at++)
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
    let before: Form | undefined;
    let next = this.#forms.get(hash);
    for (; next !== undefined && next.text.length >= text.length; next = next.next) {
      if (next.text === text) return;
      before = next;
    }
    const form = { text, by, make, next };
    if (before === undefined) this.#forms.set(hash, form);
    else before.next = form;
    this.#mayBegin[hash & 0xffff] = 1;
  }
}

/** The longest of some forms that is in a text at a place. */
function formAt(forms: Form | undefined, text: string, at: number): Form | undefined {
  let form = forms;
  while (form !== undefined && !text.startsWith(form.text, at)) form = form.next;
  return form;
}

const asItIs: Make = (text) => `${text}`;

const DIGESTS: readonly Make[] = ["md5", "sha1", "sha256", "sha512"].flatMap((algorithm) =>
  (["hex", "base64"] as const).map(
    (encoding): Make =>
      (text) =>
        createHash(algorithm).update(text).digest(encoding),
  ),
);

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
const WRITINGS: readonly Make[] = [
  ...nested(LEVELS),
  (text) => Buffer.from(text as string).toString("base64"),
];

function nested(levels: number): Make[] {
  if (levels === 0) return [asItIs];
  const within = nested(levels - 1).flatMap((write): Make[] => [
    (text) => escaped(write(text)),
    (text) => escapedByGo(write(text)),
  ]);
  return [asItIs, ...within];
}
