import * as fc from "fast-check";
import { z } from "zod";

/** A schema of zod, values that fit it mostly, and values that mostly do not. */
export interface Sample {
  readonly schema: z.ZodType;
  readonly fitting: fc.Arbitrary<unknown>;
  /** Its type, by which members of a union are told apart. */
  readonly type: "string" | "integer" | "number" | "boolean" | "object" | "array" | "record";
}

const texts = fc.string({ unit: fc.constantFrom("a", "b", "-", "7", "é"), maxLength: 6 });
const limits = fc
  .tuple(fc.nat({ max: 4 }), fc.nat({ max: 6 }))
  .map(([min, more]) => ({ min, max: min + more }));

const textSamples: fc.Arbitrary<Sample> = fc.oneof(
  limits.map(({ min, max }) => ({
    schema: z.string().min(min).max(max),
    fitting: texts,
    type: "string" as const,
  })),
  fc.constantFrom(/^a/, /b$/, /^[a-z-]+$/, /\d/, /^(?:a|b)*$/).map((pattern) => ({
    schema: z.string().regex(pattern),
    fitting: fc.oneof(texts, fc.stringMatching(pattern, { size: "small" })),
    type: "string" as const,
  })),
  fc.uniqueArray(texts, { minLength: 1, maxLength: 3 }).map((values) => ({
    schema: z.enum(values as [string, ...string[]]),
    fitting: fc.constantFrom(...values),
    type: "string" as const,
  })),
  fc.constant({ schema: z.uuid(), fitting: fc.uuid(), type: "string" as const }),
  fc.constant({ schema: z.ipv4(), fitting: fc.ipV4(), type: "string" as const }),
);

const numberSamples: fc.Arbitrary<Sample> = fc.oneof(
  limits.map(({ min, max }) => ({
    schema: z.int().min(min).max(max),
    fitting: fc.integer({ min: min - 1, max: max + 1 }),
    type: "integer" as const,
  })),
  limits.map(({ min, max }) => ({
    schema: z
      .number()
      .gt(min)
      .lt(max + 1),
    fitting: fc.constantFrom(min, min + 0.5, max + 1, max + 0.75),
    type: "number" as const,
  })),
  fc.integer({ min: 2, max: 5 }).map((step) => ({
    schema: z.int().multipleOf(step),
    fitting: fc.nat({ max: 20 }),
    type: "integer" as const,
  })),
);

const plainSamples = fc.oneof(
  textSamples,
  numberSamples,
  fc.constant<Sample>({ schema: z.boolean(), fitting: fc.boolean(), type: "boolean" }),
);

/** An object with some of the fields `a` to `e`. */
function objectOf(fields: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const field = fc.tuple(fields, fc.constantFrom("required", "optional", "nullable"));
  const names = fc.constantFrom("a", "b", "c", "d", "e");
  return fc
    .dictionary(names, field, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
    .map((given) => {
      const entries = Object.entries(given);
      const shape = entries.map(([name, [{ schema }, use]]) => [
        name,
        use === "optional" ? schema.optional() : use === "nullable" ? schema.nullable() : schema,
      ]);
      const values = entries.map(([name, [{ fitting }, use]]) => [
        name,
        use === "nullable" ? fc.option(fitting) : fitting,
      ]);
      return {
        schema: z.object(Object.fromEntries(shape)),
        fitting: fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>, {
          requiredKeys: entries.filter(([, [, use]]) => use !== "optional").map(([name]) => name),
        }),
        type: "object" as const,
      };
    });
}

function listOf(items: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.tuple(items, limits).map(([{ schema, fitting }, { min, max }]) => ({
    schema: z.array(schema).min(min).max(max),
    fitting: fc.array(fitting, { minLength: Math.max(0, min - 1), maxLength: max + 1 }),
    type: "array" as const,
  }));
}

function recordOf(values: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return values.map(({ schema, fitting }) => ({
    schema: z.record(z.string(), schema),
    fitting: fc.dictionary(fc.constantFrom("x", "y", "z"), fitting, { noNullPrototype: true }),
    type: "record" as const,
  }));
}

/** Unions that a server can have: of one type, of objects with a field that tells, of texts and integers. */
const unionSamples: fc.Arbitrary<Sample> = fc.oneof(
  fc.tuple(textSamples, textSamples).map(([one, other]) => ({
    schema: z.union([one.schema, other.schema]),
    fitting: fc.oneof(one.fitting, other.fitting),
    type: "string" as const,
  })),
  objectOf(plainSamples).map(({ schema, fitting }) => {
    const tagged = (tag: string) =>
      (schema as z.ZodObject).extend({ [`only${tag}`]: z.int().min(1), tag: z.literal(tag) });
    const tags = fc.constantFrom("One", "Two", "Three");
    return {
      schema: z.discriminatedUnion("tag", [tagged("One"), tagged("Two")]),
      fitting: fc
        .tuple(fitting, tags, tags, fc.constantFrom(0, 1))
        .map(([value, tag, only, count]) => ({
          ...(value as object),
          tag,
          [`only${only}`]: count,
        })),
      type: "object" as const,
    };
  }),
);

/** Schemas of zod that a CustomResourceDefinition can express, with values. */
export const samples: fc.Arbitrary<Sample> = fc.letrec<{ any: Sample }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: plainSamples },
    { weight: 1, arbitrary: unionSamples },
    { weight: 2, arbitrary: objectOf(tie("any")) },
    { weight: 1, arbitrary: listOf(tie("any")) },
    { weight: 1, arbitrary: recordOf(tie("any")) },
  ),
})).any;

/** Values that mostly do not fit. */
export const strangers: fc.Arbitrary<unknown> = fc.oneof(
  texts,
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.5, true, [], {}, ["a"], { a: 1 }, { a: "a", b: 2 }, null),
);
