// docs/upgrading-the-crd.md, step by step, on any server: the fake one and a real one answer alike.

import {
  ApiError,
  findError,
  fromCrd,
  type KubeClient,
  type KubeObject,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { crdOf, type Manifest } from "./crd.ts";

interface ThingObject extends KubeObject {
  spec?: { a?: string; b?: string };
}

type Version = { readonly name: string; readonly served: boolean; readonly storage: boolean };

const TEXT = { type: "string" };
const schema = {
  openAPIV3Schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { a: TEXT, b: TEXT } } },
  },
};

/** The manifest with these versions. */
const manifest = (...versions: readonly Version[]) =>
  crdOf({
    group: "removed.example.org",
    kind: "Thing",
    names: { singular: "thing", listKind: "ThingList" },
    versions: versions.map((version) => ({ ...version, schema })),
  });

const version = (name: string, storage: boolean, served = true) => ({ name, served, storage });
export const FIRST: Manifest = manifest(version("v1", true), version("v2", false));
const SECOND = manifest(version("v1", false), version("v2", true));
const HIDDEN = manifest(version("v1", false, false), version("v2", true));
export const LAST: Manifest = manifest(version("v2", true));

const OldThing = fromCrd<ThingObject>(FIRST, "v1");
const Thing = fromCrd<ThingObject>(FIRST, "v2");

const ref = (name: string) => ({ namespace: "default", name });

/** Managers of an object, with the version of their fields. */
function managersOf({ metadata }: KubeObject): string[] {
  const entries = (metadata?.managedFields ?? []) as { manager: string; apiVersion: string }[];
  return entries.map(({ manager, apiVersion }) => `${manager} ${apiVersion.split("/")[1]}`).sort();
}

/**
 * Removes v1 as the guide says.
 *
 * @param serve - gives the server another manifest, and waits until it has taken it over: until `isTaken`, if it shows
 */
export async function removeVersion(
  client: KubeClient,
  serve: (crd: Manifest, isTaken?: () => Promise<boolean>) => Promise<unknown>,
): Promise<void> {
  const apply = async (name: string, spec: object, fieldManager = "new") =>
    await client.apply(Thing, { metadata: ref(name), spec }, { fieldManager });
  const problemOf = async (work: Promise<unknown>): Promise<readonly unknown[]> => {
    const error = findError(await work.catch((caught: unknown) => caught), ApiError);
    return [error?.status, error?.message.replace(/^.*: 500: /, "")];
  };
  const names = ["forgotten", "replaced", "patched", "renamed", "dropped"];
  for (const name of names)
    await client.apply(
      OldThing,
      { metadata: ref(name), spec: { a: "1" } },
      { fieldManager: "old" },
    );
  for (const name of names) await apply(name, { b: "1" });
  await serve(SECOND);
  for (const name of names) await client.update(Thing, await client.get(Thing, ref(name)));
  expect(managersOf(await client.get(Thing, ref("renamed")))).toEqual(["new v2", "old v1"]);

  // The step that the guide had not: both ways to be rid of an entry of v1.
  const { managedFields = [] } = (await client.get(Thing, ref("renamed"))).metadata;
  const at = (managedFields as { manager: string }[]).findIndex(({ manager }) => manager === "old");
  const path = `/metadata/managedFields/${at}`;
  await client.modify(Thing, ref("renamed"), ({ metadata }) => {
    for (const entry of metadata.managedFields as { apiVersion: string }[])
      if (entry.apiVersion === "removed.example.org/v1")
        entry.apiVersion = "removed.example.org/v2";
  });
  await client.patch(Thing, ref("dropped"), [{ op: "remove", path }]);
  await serve(
    HIDDEN,
    async () => (await problemOf(client.get(OldThing, ref("renamed"))))[0] === 404,
  );
  await apply("forgotten", { b: "2" });
  await serve(LAST, async () => (await problemOf(apply("replaced", { b: "1" })))[0] === 500);

  const refused = [
    500,
    "request to convert CR to an invalid group/version: removed.example.org/v1",
  ];
  for (const name of ["forgotten", "replaced", "patched"])
    for (const manager of ["new", "old", "another"])
      expect(await problemOf(apply(name, { b: "3" }, manager))).toEqual(refused);
  const replaced = await client.get(Thing, ref("replaced"));
  expect(managersOf(replaced)).toEqual(["new v2", "old v1"]);
  expect(managersOf(await client.update(Thing, { ...replaced, spec: { a: "4", b: "4" } }))).toEqual(
    [],
  );
  const patched = await client.patch(Thing, ref("patched"), { spec: { a: "4" } });
  expect(managersOf(patched)).toEqual([]);

  expect(managersOf(await apply("renamed", { b: "3" }))).toEqual(["new v2", "old v2"]);
  // The old manager is still the owner of its field: it may withdraw it.
  expect((await apply("renamed", {}, "old")).spec).toEqual({ b: "3" });
  expect(managersOf(await apply("dropped", { b: "3" }))).toEqual(["new v2"]);
}

/**
 * Removes v1 while an object is still stored in it, which the server does not check.
 *
 * @param serve - see {@link removeVersion}
 */
export async function removeStoredVersion(
  client: KubeClient,
  serve: (crd: Manifest, isTaken?: () => Promise<boolean>) => Promise<unknown>,
): Promise<void> {
  const left = ref("left");
  const spec = { a: "1" };
  await serve(FIRST);
  await client.apply(OldThing, { metadata: left, spec }, { fieldManager: "old" });
  await serve(SECOND);
  await client.create(Thing, { metadata: ref("another"), spec });
  const answerTo = async (work: Promise<unknown>): Promise<unknown> => {
    const error = findError(await work.catch((caught: unknown) => caught), ApiError);
    return error === undefined ? "done" : [error.status, error.message.replace(/^.*?: /, "")];
  };
  const once = { retries: 0 };
  await serve(LAST, async () => (await answerTo(client.get(Thing, left, once))) !== "done");
  const path = "/apis/removed.example.org/v2/namespaces/default/things";
  const read = (query: object) =>
    answerTo(client.request({ path, query: query as Record<string, string>, retries: 0 }));
  const why = "request to convert CR from an invalid group/version: removed.example.org/v1";
  const unreadable = [500, `500: ${why}`];
  const cold = [
    429,
    `429 TooManyRequests: storage is (re)initializing: failed to list removed.example.org/v2, Kind=Thing: ${why}`,
  ];
  const watch = { watch: "true", timeoutSeconds: "1" };
  expect({
    get: await answerTo(client.get(Thing, left, once)),
    patch: await answerTo(client.patch(Thing, left, { spec: { b: "1" } }, once)),
    apply: await answerTo(client.apply(Thing, { metadata: left, spec }, once)),
    delete: await answerTo(client.delete(Thing, left, once)),
    page: await read({ limit: "500" }),
  }).toEqual(
    Object.fromEntries(["get", "patch", "apply", "delete", "page"].map((one) => [one, unreadable])),
  );
  for (const query of [{}, { resourceVersion: "0" }, watch, { ...watch, resourceVersion: "0" }])
    expect(await read(query)).toEqual(cold);
  const taken = 'things.removed.example.org "left" already exists';
  expect(await answerTo(client.create(Thing, { metadata: left, spec }, once))).toEqual([
    409,
    `409 AlreadyExists: ${taken}`,
  ]);
  // Other objects are as they were.
  for (const work of [
    () => client.get(Thing, ref("another"), once),
    () => client.create(Thing, { metadata: ref("made"), spec }, once),
    () => client.patch(Thing, ref("another"), { spec: { b: "1" } }, once),
    () => client.delete(Thing, ref("another"), once),
  ])
    expect(await answerTo(work())).toBe("done");
}
