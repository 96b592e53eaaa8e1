import { parseJson } from "../../object/json.ts";
import type { ApiCall } from "../request/api-call.ts";

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** What a server says about the members that the JSON in the body of a call has twice. */
export function duplicateTexts({ body = "" }: ApiCall, prefix = ""): string[] {
  const found = duplicateFields(body, parseJson(body));
  return found.map(({ path }) => `${prefix}duplicate field "${path}"`);
}

/** A member that an object in a text has twice. */
export interface DuplicateField {
  /** As in `spec.ports[0].name`. */
  readonly path: string;

  readonly name: string;

  /** Its line in the text, from 1 on. */
  readonly line: number;
}

/**
 * The members that objects in a text of JSON have twice.
 *
 * @param parsed - the value of the text
 */
export function duplicateFields(text: string, parsed: unknown): DuplicateField[] {
  // A text that a serializer has written has none.
  return JSON.stringify(parsed) === text ? [] : new Reading(text).found;
}

/** An object or a list that is being read. */
interface Level {
  readonly path: string;

  /** Names of an object so far. Undefined for a list. */
  readonly names: Set<string> | undefined;

  /** The name or the index of the current member. */
  member: string | number;
}

/** Follows the tokens of a text, and notes the names that come twice. */
class Reading {
  readonly found: DuplicateField[] = [];
  readonly #text: string;
  readonly #levels: Level[] = [];

  constructor(text: string) {
    this.#text = text;
    const tokens = [...text.matchAll(TOKENS)];
    for (const [index, { 0: token, index: at }] of tokens.entries())
      if (tokens[index + 1]?.[0] === ":") this.#name(JSON.parse(token) as string, at);
      else this.#sign(token);
  }

  #name(name: string, at: number): void {
    const level = this.#levels.at(-1);
    if (level?.names === undefined) return;
    level.member = name;
    const line = this.#text.slice(0, at).split("\n").length;
    if (level.names.has(name)) this.found.push({ path: pathOf(level), name, line });
    level.names.add(name);
  }

  #sign(token: string): void {
    const level = this.#levels.at(-1);
    const path = level === undefined ? "" : pathOf(level);
    if (token === "{") this.#levels.push({ path, names: new Set(), member: "" });
    if (token === "[") this.#levels.push({ path, names: undefined, member: 0 });
    if (token === "}" || token === "]") this.#levels.pop();
    if (token === "," && typeof level?.member === "number") level.member++;
  }
}

function pathOf({ path, member }: Level): string {
  if (typeof member === "number") return `${path}[${member}]`;
  return path === "" ? member : `${path}.${member}`;
}
