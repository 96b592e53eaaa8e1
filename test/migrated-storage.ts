// Moves objects of two managers to another stored version, and then removes the first one.
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { deferred } from "@holdfast/kit";
import {
  builtIn,
  customResource,
  isApiError,
  type KubeClient,
  type KubeObject,
  migrateStorage,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { z } from "zod";

const spec = z.object({ url: z.string(), size: z.int().default(1) });
const status = z.object({ ready: z.boolean() });
const names = { group: "holdfast.example.org", kind: "Mirror", plural: "mirrors" } as const;
const v1 = { spec, status };
const v2 = { spec, status };

/** The releases n, n+2, n+3 and n+4 of the guide. */
export const STORES_V1 = customResource({ ...names, versions: { v1, v2 }, storage: "v1" });
export const STORES_V2 = customResource({ ...names, versions: { v1, v2 }, storage: "v2" });
const SERVES_V2 = customResource({
  ...names,
  versions: { v1: { ...v1, served: false }, v2 },
  storage: "v2",
});
const WITHOUT_V1 = customResource({ ...names, versions: { v2 }, storage: "v2" });

export const Crd = builtIn<KubeObject & { spec: object; status?: { storedVersions?: string[] } }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
);
const NAME = "mirrors.holdfast.example.org";
const COUNT = 20;

/** A migration. */
export interface Migrated {
  readonly resource: Parameters<typeof migrateStorage>[0];
  readonly client: KubeClient;
  readonly retire?: readonly string[];
}

/** Runs a migration until it is done, and returns how many objects it has patched. */
export async function migrate({ resource, client, retire }: Migrated): Promise<string[]> {
  const clock = new FakeClock();
  const stop = new AbortController();
  const seen: string[] = [];
  const done = deferred<void>();
  const again = (): void => void setImmediate(() => clock.step(60_000)); // it sleeps by then
  const logger = {
    ...silentLogger,
    info: (_: object, message = "") => {
      if (message === "storage migrated") done.resolve();
      else again();
    },
    warn: (details: { err?: unknown }) => {
      // A server writes conditions of the definition meanwhile.
      if (isApiError(details.err, "Conflict")) again();
      else done.reject(new Error(JSON.stringify(details)));
    },
  };
  const metrics = { migrated: (...facts: string[]) => void seen.push(facts.join(" ")) };
  const work = migrateStorage(resource, { client, clock, logger, metrics }, { retire });
  const running = work.run(stop.signal);
  await Promise.race([done.promise, running]);
  stop.abort();
  await running.catch(() => undefined);
  return seen;
}

/** @param define - makes a definition that of the server */
export async function migratedStorage(
  client: KubeClient,
  define: (resource: { readonly crd: object }) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < COUNT; i += 1) {
    const metadata = { namespace: "default", name: `m${i}` };
    const applied = { fieldManager: "old", force: false };
    await client.apply(STORES_V1.v1, { metadata, spec: { url: "u" } }, applied);
    await client.patch(
      STORES_V1.v1,
      metadata,
      { status: { ready: true } },
      { subresource: "status" },
    );
  }
  const generations = async () => {
    const found: unknown[] = [];
    for await (const { metadata } of client.list(STORES_V2.v2)) found.push(metadata.generation);
    return found;
  };
  const before = await generations();
  await define(STORES_V2);
  const first = await migrate({ resource: STORES_V2, client });
  // Each object was written, and then nothing was found to write.
  expect(first).toEqual(Array(2 * COUNT).fill(`${NAME} migrated`));
  const crd = await client.get(Crd, NAME);
  expect(crd.status?.storedVersions).toEqual(["v2"]);
  expect(await generations()).toEqual(before);
  await define(SERVES_V2);
  expect(await versionsOfEntries(client)).toEqual(new Set(["v1"]));
  const retired = await migrate({ resource: SERVES_V2, client, retire: ["v1"] });
  expect(retired).toEqual(Array(2 * COUNT).fill(`${NAME} migrated`));
  expect(await versionsOfEntries(client)).toEqual(new Set(["v2"]));
  await define(WITHOUT_V1);
  for (let i = 0; i < COUNT; i += 1) {
    const metadata = { namespace: "default", name: `m${i}` };
    const made = await client.apply(
      WITHOUT_V1.v2,
      { metadata, spec: { url: "w" } },
      { fieldManager: "old", force: false },
    );
    // The fields are still those of their manager: it can change them without force, and withdraw them.
    expect(made.spec).toEqual({ url: "w", size: 1 });
  }
}

async function versionsOfEntries(client: KubeClient): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { metadata } of client.list(STORES_V2.v2))
    for (const { apiVersion } of (metadata.managedFields ?? []) as { apiVersion: string }[])
      found.add(apiVersion.split("/")[1] as string);
  return found;
}
