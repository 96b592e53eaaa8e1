import type { RequestStep, Uncompared } from "../script.ts";

/** Fields of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request about the one object of a case. */
export type Act =
  | readonly [act: "create" | "update" | "merge" | "status", content: unknown]
  | readonly [act: "createObject" | "updateObject", object: Fields]
  | readonly [act: "apply" | "applyStatus" | "force", content: unknown, manager?: string]
  | readonly [act: "applyObject", object: Fields]
  | readonly [act: "patch", operations: readonly Fields[]]
  | readonly [act: "get" | "remove"]
  | readonly [act: "strict", content: unknown]
  | readonly [act: "request", step: (paths: Paths) => RequestStep];

/** Paths of the object of a case. */
export interface Paths {
  readonly collection: string;
  readonly object: string;

  /** Collections by version. */
  readonly of: (version: string) => string;
}

/** A custom resource and its cases. */
export interface Table {
  readonly kind: string;

  /** Schema of the spec. */
  readonly spec: object;

  /** Schema of the status. Default: any object. */
  readonly status?: object;

  /** More fields of the schema of the object. */
  readonly root?: object;

  /** More fields of its only version. */
  readonly version?: object;

  /** All versions, with their schemas. Default: one, `v1`. */
  readonly versions?: readonly Fields[];

  /** More fields of the manifest's spec. */
  readonly more?: object;

  /** Acts by the name of the case: a plain assertion. */
  readonly cases: Readonly<Record<string, readonly Act[]>>;

  /** Parts that are not compared. */
  readonly uncompared?: readonly Uncompared[];
}

/** A case for each value: a new object with it. */
export function created(values: Readonly<Record<string, unknown>>): Table["cases"] {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, [["create", value]]]),
  );
}
