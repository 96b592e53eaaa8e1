import { schemaError } from "./schema-error.ts";

/** The parts of a schema of zod that its JSON schema does not show. */
interface ZodParts {
  readonly _zod: { readonly def: ZodDef };
}

interface ZodDef {
  readonly type?: string;
  readonly check?: string;
  readonly coerce?: boolean;
  readonly pattern?: RegExp;
  readonly checks?: readonly ZodParts[];
  readonly in?: ZodParts;
  readonly out?: ZodParts;
}

/** What zod passes for each part of a schema: it may change the JSON schema. */
interface Part {
  readonly zodSchema: ZodParts;
  readonly jsonSchema: { pattern?: string; allOf?: { pattern?: string }[] };
  readonly path: readonly (string | number)[];
}

/**
 * The options of zod for a JSON schema that says what it would leave out: flags of patterns. Code that changes or
 * accepts values is an error: a server runs none.
 *
 * @param name - of the schema, for errors
 */
export function zodOptions(name: string): { readonly override: (part: Part) => void } {
  return {
    override({ zodSchema, jsonSchema, path }) {
      const { def } = zodSchema._zod;
      const code = codeIn(def);
      const field = fieldOf(name, path);
      if (code !== undefined)
        throw schemaError(
          field,
          `it has ${code}, and a server runs no code`,
          "take the schema of the value that is stored, and change values in your code",
        );
      for (const { pattern } of [def, ...checksOf(def)])
        if (pattern !== undefined) withFlags(jsonSchema, pattern, field);
    },
  };
}

function codeIn(def: ZodDef): string | undefined {
  if (def.type === "file") return "a file";
  if (def.type === "catch") return "catch()";
  if (def.coerce === true) return "a coercion";
  // Those of one type alone: others show as two JSON schemas.
  if (def.type === "pipe" && isOfOneType(def)) return "a pipe";
  return checksOf(def).some(({ check }) => check === "overwrite")
    ? "code that changes the value, as trim() and toLowerCase() are"
    : undefined;
}

function isOfOneType({ in: before, out: after }: ZodDef): boolean {
  const [one, other] = [before?._zod.def.type, after?._zod.def.type];
  return one === other || one === "transform";
}

function checksOf({ checks = [] }: ZodDef): ZodDef[] {
  return checks.map(({ _zod }) => _zod.def);
}

/** Flags of JavaScript as RE2 has them, within the pattern. Those that say where a search begins or its form go. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ...(["i", "s", "m"] as const).map((flag) => [flag, flag] as const),
  ...(["d", "g", "u"] as const).map((flag) => [flag, ""] as const),
]);

function withFlags(json: Part["jsonSchema"], { source, flags }: RegExp, field: string): void {
  const known = [...flags].map((flag) => {
    const own = FLAGS.get(flag);
    if (own === undefined)
      throw schemaError(
        field,
        `its pattern has the flag ${flag}, which RE2 lacks`,
        "write it without",
      );
    return own;
  });
  const own = known.join("");
  if (own === "") return;
  for (const one of [json, ...(json.allOf ?? [])])
    if (one.pattern === source) one.pattern = `(?${own})${source}`;
}

function fieldOf(name: string, path: readonly (string | number)[]): string {
  const parts = path.map((part, index) => {
    if (path[index - 1] === "properties") return `.${part}`;
    if (part === "items") return "[]";
    return part === "additionalProperties" ? ".*" : "";
  });
  return name + parts.join("");
}
