import type { z } from "zod";

/**
 * A value that fits a schema, with the defaults of that.
 *
 * @param name - name of the value in the error
 * @throws RangeError that names each part that does not fit, and why
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  name: string,
  value: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  const problems = error.issues.map(
    ({ path, message }) => `${[name, ...path].join(".")}: ${message}`,
  );
  throw new RangeError(problems.join("; "));
}
