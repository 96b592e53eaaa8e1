import { requireOptions } from "@holdfast/kit";
import { isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";
import { schemaError } from "./schema-error.ts";
import { structuralSchema } from "./structural-schema.ts";
import { zodOptions } from "./zod-schema.ts";

/**
 * A schema of a library that implements Standard JSON Schema (Standard Schema 1.1), as zod does from 4.2 on and
 * ArkType from 2.2 on. Nothing else of the library is used.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of Standard Schema. */
  readonly "~standard": {
    /** Version of Standard Schema. */
    readonly version: 1;

    /** Name of the library. */
    readonly vendor: string;

    /** Carries the types. */
    readonly types?:
      | {
          /** What users write. */
          readonly input: Input;

          /** What parsing makes of it. */
          readonly output: Output;
        }
      | undefined;

    /** JSON schemas of the values before and after parsing. */
    readonly jsonSchema: {
      /** The JSON schema of what users write. */
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;

      /** The JSON schema of what parsing makes of it. */
      readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

/** Type of a value as users write it: a field with a default may be missing. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];

/** Type of a value as the server stores it: defaults are there. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** A JSON schema: of draft 7, of draft 2020-12, or of OpenAPI 3.0. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The structural schema of a part of an object.
 *
 * @param name - of the part, for errors
 * @throws TypeError if it is no schema
 * @throws RangeError if a CustomResourceDefinition cannot express it
 */
export function structuralPart(schema: StandardSchema | JsonSchema, name: string): JsonObject {
  // The schemas of ArkType are functions.
  const standard: unknown = Object(schema)["~standard"];
  const structural =
    standard === undefined
      ? structuralSchema(plainSchema(schema, name), name)
      : standardPart(standard as StandardSchema["~standard"], name);
  if (structural["type"] !== "object")
    throw new RangeError(`${name} must be a schema of objects, got one of ${typeName(structural)}`);
  return structural;
}

interface Place {
  readonly path: string;

  /** Name of the library. */
  readonly vendor: string;
}

function typeName({ type }: JsonObject): string {
  return type === undefined ? "any value" : String(type);
}

function plainSchema(schema: unknown, name: string): JsonObject {
  requireOptions(name, schema);
  return schema as JsonObject;
}

/** A server fills in defaults, and transforms nothing: what is stored must be what was written, and defaults. */
function standardPart(standard: StandardSchema["~standard"], name: string): JsonObject {
  const { vendor, jsonSchema } = standard;
  if (typeof jsonSchema?.input !== "function" || typeof jsonSchema.output !== "function")
    throw new TypeError(
      `${name} must implement Standard JSON Schema, as zod does from 4.2 on and ArkType from 2.2 on; this schema of ${vendor} does not`,
    );
  const [input, output] = (["input", "output"] as const).map((side) => {
    try {
      const libraryOptions = vendor === "zod" ? { ...zodOptions(name) } : undefined;
      const options = { target: "draft-2020-12", libraryOptions } as const;
      return structuralSchema(jsonSchema[side](options), name);
    } catch (error) {
      if (error instanceof RangeError && error.message.startsWith("a CRD ")) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new RangeError(
        `${name} has no JSON schema of its ${side}: ${vendor} says "${reason}"`,
        {
          cause: error,
        },
      );
    }
  }) as [JsonObject, JsonObject];
  requireSame(input, output, { path: name, vendor });
  return input;
}

/** Compares what is written with what is read. */
function requireSame(input: JsonObject, output: JsonObject, place: Place): void {
  if (typeName(input) !== typeName(output))
    throw schemaError(
      place.path,
      `it makes ${typeName(output)} of ${typeName(input)}, and a server transforms nothing`,
      "take the type that is stored, and transform it in your code",
    );
  for (const [suffix, field, read] of pairsOf(input, output))
    requireSame(field, read, { ...place, path: `${place.path}${suffix}` });
  for (const [name, field] of Object.entries(propertiesOf(input))) {
    const isFilledIn = isRequired(output, name) && !isRequired(input, name);
    if (isFilledIn && isObject(field) && !("default" in field))
      throw schemaError(
        `${place.path}.${name}`,
        `it has a default that ${place.vendor} does not write into its JSON schema`,
        "make it optional, or take a JSON schema or a library that does, such as zod",
      );
  }
}

/** What stands below in both schemas, each with its part of the path. */
function pairsOf(input: JsonObject, output: JsonObject): [string, JsonObject, JsonObject][] {
  const fields = Object.keys(propertiesOf(input)).map((name): [string, unknown, unknown] => [
    `.${name}`,
    propertiesOf(input)[name],
    own(propertiesOf(output), name),
  ]);
  const others: [string, unknown, unknown][] = [
    ["[]", input["items"], output["items"]],
    [".*", input["additionalProperties"], output["additionalProperties"]],
  ];
  return [...fields, ...others].filter((pair): pair is [string, JsonObject, JsonObject] =>
    pair.slice(1).every(isObject),
  );
}

function isRequired({ required }: JsonObject, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
