import { type Kind, kind, requireString } from "@holdfast/kit";

/** Where the tables of an outbox are in a PostgreSQL. */
export interface InSchema {
  /**
   * The schema of the tables, which need not be on `search_path`: 1 to 63 letters, digits, underscores and hyphens, as the
   * database has them. `migrate` creates it if it is missing.
   *
   * @defaultValue none: the tables are found by `search_path`
   */
  readonly schema?: string | undefined;
}

export const schemaName: Kind = kind("schemaName", requireSchema);

/** It is quoted, and none of its characters ends the quotes. */
export function requireSchema(name: string, schema: string): void {
  requireString(name, schema);
  if (!/^[\w-]{1,63}$/.test(schema))
    throw new RangeError(
      `${name} must be 1 to 63 letters, digits, underscores and hyphens, got ${JSON.stringify(schema.slice(0, 80))}`,
    );
}

/** A name, or the first part of one, in a schema if there is one. */
export function qualified({ schema }: InSchema, name: string): string {
  return schema === undefined ? name : `"${schema}".${name}`;
}
