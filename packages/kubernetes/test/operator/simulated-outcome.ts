import { isDeepStrictEqual } from "node:util";
import { type CachedObject, type KubeObject, keyOf, type StoredObject } from "@holdfast/kubernetes";
import { dataOf, FINALIZER, type SecretObject, type VaultObject } from "./simulated-replica.ts";

type Named = CachedObject<KubeObject>;

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The ways in which the server is not as the operator wants it. */
export function undesired(
  vaults: readonly StoredObject<VaultObject>[],
  secrets: readonly StoredObject<SecretObject>[],
): string[] {
  const children = byKey(secrets);
  const parents = byKey(vaults);
  const orphans = [...children.keys()].filter((key) => !parents.has(key));
  return [
    ...vaults.flatMap((vault) => flaws(vault, children.get(keyOf(vault)) as never)),
    ...orphans.map((key) => `${key} has left its Secret`),
  ];
}

function flaws(
  vault: StoredObject<VaultObject>,
  secret: StoredObject<SecretObject> | undefined,
): string[] {
  const { metadata, spec, status } = vault;
  const owners = secret?.metadata.ownerReferences?.map(({ uid }) => uid);
  const all: readonly [isFlawed: boolean, text: string][] = [
    [metadata.deletionTimestamp !== undefined, "is still being deleted"],
    [!metadata.finalizers?.includes(FINALIZER), "has no finalizer"],
    [status?.name !== spec.name, "has the status of an earlier spec"],
    [!isDeepStrictEqual(secret?.data, dataOf(vault)), "has a wrong Secret"],
    [!isDeepStrictEqual(owners, [metadata.uid]), "has a Secret with another owner"],
  ];
  return all.filter(([isFlawed]) => isFlawed).map(([, text]) => `${keyOf(vault)} ${text}`);
}

/** The objects that are not in a cache as the server has them. */
export function differences(cached: readonly Named[], server: readonly Named[]): string[] {
  const here = byKey(cached);
  const there = byKey(server);
  const keys = [...new Set([...here.keys(), ...there.keys()])];
  const stale = keys.filter((key) => !isDeepStrictEqual(here.get(key), there.get(key)));
  return stale.map((key) => {
    const [mine, theirs] = [here, there].map((each) => each.get(key)?.metadata.resourceVersion);
    return `${there.get(key)?.kind ?? here.get(key)?.kind} ${key} is ${mine}, and ${theirs} on the server`;
  });
}

function byKey(objects: readonly Named[]): Map<string, Named> {
  return new Map(
    objects.map((object) => {
      const { managedFields, ...metadata } = object.metadata;
      return [keyOf(object), { ...object, metadata }];
    }),
  );
}
