// Tables of cases: a custom resource with a schema, and what requests do to an object of it.
import type { RequestStep, Script, Step } from "./script.ts";
import { apply, get, jsonPatch, mergePatch, post, put, remove } from "./steps.ts";
import { counts } from "./tables/counts.ts";
import { defaults } from "./tables/defaults.ts";
import { embedded } from "./tables/embedded.ts";
import { inherited } from "./tables/inherited.ts";
import { lists } from "./tables/lists.ts";
import { metadata } from "./tables/metadata.ts";
import { nulls } from "./tables/nulls.ts";
import { patterns } from "./tables/patterns.ts";
import { scales } from "./tables/scales.ts";
import { selections } from "./tables/selections.ts";
import type { Fields, Paths, Table } from "./tables/table.ts";
import { transitions } from "./tables/transitions.ts";
import { unions } from "./tables/unions.ts";
import { versions } from "./tables/versions.ts";
import { words } from "./tables/words.ts";

const GROUP = "tables.example.org";

const TABLES: Readonly<Record<string, Table>> = {
  patterns,
  counts,
  embedded,
  nulls,
  unions,
  transitions,
  lists,
  defaults,
  selections,
  scales,
  versions,
  words,
  metadata,
  inherited,
};

const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Manifests of the resources of all tables. */
export const tableCrds: readonly object[] = Object.values(TABLES).map((table) => {
  const { kind, spec, status = ANY, root, version, more } = table;
  const plural = pluralOf(table);
  const properties = { spec, status };
  const openAPIV3Schema = { type: "object", properties, ...root };
  const only = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema },
    subresources: { status: {} },
    ...version,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: table.versions ?? [only],
      ...more,
    },
  };
});

/** Paths of the collections of all tables, over all namespaces. */
export const tableCollections: readonly string[] = Object.values(TABLES).map(
  (table) => `/apis/${GROUP}/${versionOf(table)}/${pluralOf(table)}`,
);

/** The cases as scripts, by table. */
export const tables: readonly Script[] = Object.entries(TABLES).flatMap(([name, table]) =>
  Object.entries(table.cases).map(([fact, acts]) => ({
    name: `${name}: ${fact}`,
    messages: true,
    managers: acts.some(([act]) => act.startsWith("apply") || act === "force"),
    steps: acts.flatMap((act) => stepsOf(table, act)),
    ...(table.uncompared && { uncompared: table.uncompared }),
  })),
);

function pluralOf({ kind }: Table): string {
  return `${kind.toLowerCase()}s`;
}

function versionOf({ versions }: Table): string {
  return String(versions?.[0]?.["name"] ?? "v1");
}

function stepsOf(table: Table, [act, content, manager = "one"]: readonly unknown[]): Step[] {
  const of = (version: string) =>
    `/apis/${GROUP}/${version}/namespaces/$(namespace)/${pluralOf(table)}`;
  const collection = of(versionOf(table));
  const paths: Paths = { collection, object: `${collection}/a`, of };
  const whole = (fields: Fields, metadata: object = {}): Fields => ({
    apiVersion: `${GROUP}/${versionOf(table)}`,
    kind: table.kind,
    ...fields,
    metadata: { name: "a", ...metadata, ...(fields["metadata"] as object | undefined) },
  });
  const current = { resourceVersion: "$(now.metadata.resourceVersion)" };
  const now = get(paths.object, { id: "now" });
  const options = { manager: manager as string };
  switch (act) {
    case "create":
      return [post(collection, whole({ spec: content }))];
    case "strict":
      return [post(collection, whole({ spec: content }), { query: { fieldValidation: "Strict" } })];
    case "createObject":
      return [post(collection, whole(content as Fields))];
    case "update":
      return [now, put(paths.object, whole({ spec: content }, current))];
    case "updateObject":
      return [now, put(paths.object, whole(content as Fields, current))];
    case "status":
      return [now, put(`${paths.object}/status`, whole({ status: content }, current))];
    case "merge":
      return [mergePatch(paths.object, content)];
    case "patch":
      return [jsonPatch(paths.object, content as readonly Fields[])];
    case "apply":
      return [apply(paths.object, whole({ spec: content }), options)];
    case "force":
      return [apply(paths.object, whole({ spec: content }), { ...options, force: true })];
    case "applyObject":
      return [apply(paths.object, whole(content as Fields), options)];
    case "applyStatus":
      return [apply(`${paths.object}/status`, whole({ status: content }), options)];
    case "get":
      return [get(paths.object)];
    case "remove":
      return [remove(paths.object)];
    case "request":
      return [(content as (paths: Paths) => RequestStep)(paths)];
    default:
      throw new RangeError(`act must be one of a table, got ${String(act)}`);
  }
}
