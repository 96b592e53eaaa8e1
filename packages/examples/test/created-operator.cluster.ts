import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { silentLogger } from "@holdfast/controller";
import {
  builtIn,
  KubeClient,
  type KubeObject,
  type OperatorOptions,
  type Resource,
  runOperator,
} from "@holdfast/kubernetes";
import { afterAll, describe, expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { buildProject } from "../../../test/build-project.ts";
import { ownServerTest } from "../../../test/cluster.ts";
import { bin, run } from "../../../tools/packages.mjs";
import { GuardedCluster } from "./guarded-cluster.ts";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}

interface BackupObject extends KubeObject {
  spec: { text: string };
  status?: { configMap: string };
}

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string };
}

interface Manifest extends KubeObject {
  roleRef?: { kind: string; name: string };
  subjects?: readonly { kind: string; name: string; namespace: string }[];
}

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "created-operator-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FILES = [
  "backups.example.org",
  "operator",
  "role",
  "crd-reader",
  "disruption-budget",
  "network-policy",
];

/** A new project, compiled; with options for its exploration, also with the roles of `npm run role`. */
async function make(name: string, options?: string) {
  const place = join(folder, name);
  mkdirSync(place);
  run(
    process.execPath,
    [join(root, "packages/create-operator/dist/main.js"), "backup-operator"],
    place,
  );
  const project = join(place, "backup-operator");
  buildProject(project);
  if (options !== undefined) {
    const test = join(project, "src/operator.test.ts");
    const text = readFileSync(test, "utf8");
    // One world without a fault needs the rights of a Lease.
    const explored = text
      .replace("await explore({", `await explore({ ${options}, worlds: 1,`)
      .replace("expect(notRun).toEqual({})", "expect(notRun).toBeDefined()");
    writeFileSync(test, explored);
    const bins = join(project, "node_modules/.bin");
    mkdirSync(bins);
    symlinkSync(bin("vitest"), join(bins, "vitest"));
    const main = join(root, "packages/fake-apiserver/dist/bin/main.js");
    const command = `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`;
    writeFileSync(join(bins, "holdfast-fake-apiserver"), command, { mode: 0o755 });
    run("npm", ["run", "role"], project);
  }
  const load = async (file: string) => await import(pathToFileURL(join(project, file)).href);
  const { operator } = await load("dist/operator.js");
  const Backup: Resource<BackupObject> = (await load("dist/resource.js")).Backup;
  const files = FILES.map((file) => join(project, "deploy", `${file}.yaml`));
  return { project, operator, Backup, files };
}

/** Runs the operator with the token of its service account until a Backup has its ConfigMap, once more after a deletion. */
async function work(
  cluster: GuardedCluster,
  { project, operator, Backup }: Awaited<ReturnType<typeof make>>,
  options: Pick<OperatorOptions, "leaderElection" | "shards">,
): Promise<void> {
  const { admin, transport, server } = cluster;
  const stop = new AbortController();
  const running = runOperator(
    {
      name: "backup-operator",
      transport,
      setup: operator,
      logger: silentLogger,
      health: false,
      compareCrds: true,
      ...options,
    },
    stop.signal,
  );
  const child = { namespace: "default", name: "backup-one" };
  const [, object = ""] =
    /<<EOF\n(.*?)EOF\n/s.exec(readFileSync(join(project, "README.md"), "utf8")) ?? [];
  writeFileSync(join(project, "one.yaml"), object);
  await server.kubectl("apply", "-n", "default", "-f", join(project, "one.yaml"));
  const one = { namespace: "default", name: "one" };
  await cluster.until(async () => (await admin.get(Backup, one)).status !== undefined);
  expect((await admin.get(ConfigMap, child)).data).toEqual({ text: "hello" });
  await admin.delete(ConfigMap, child);
  await cluster.until(async () => (await admin.find(ConfigMap, child)) !== undefined);
  stop.abort();
  await running;
}

/** Names of the Leases in a namespace, or in all. */
async function leasesOf(client: KubeClient, namespace?: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { metadata } of client.list(Lease, { namespace })) names.push(metadata.name);
  return names;
}

/** Names in bindings that no manifest makes. */
function dangling(files: readonly string[]): string[] {
  const manifests = files
    .flatMap((file) => parseAllDocuments(readFileSync(file, "utf8")))
    .map((document) => document.toJS() as Manifest);
  const nameOf = (kind: string, name = "", namespace = "") => `${kind} ${namespace}/${name}`;
  const made = new Set(
    manifests.map(({ kind = "", metadata }) => nameOf(kind, metadata?.name, metadata?.namespace)),
  );
  return manifests
    .flatMap(({ roleRef, subjects = [], metadata }) => {
      if (roleRef === undefined) return [];
      const namespace = roleRef.kind === "Role" ? metadata?.namespace : undefined;
      const accounts = subjects.flatMap((one) => [
        nameOf(one.kind, one.name, one.namespace),
        nameOf("Namespace", one.namespace),
      ]);
      return [nameOf(roleRef.kind, roleRef.name, namespace), ...accounts];
    })
    .filter((name) => !made.has(name));
}

describe("the project of npm create @holdfast/operator on a server where roles decide", () => {
  ownServerTest("works with the rights of its manifests, and uses each of them", async () => {
    const made = await make("as-it-is");
    await using cluster = await GuardedCluster.start(made.files);
    const { namespace, server } = cluster;
    const all = await server.kubectl("kustomize", join(made.project, "deploy"));
    expect([...all.matchAll(/^kind: (.*)$/gm)].map(([, kind]) => kind).sort()).toEqual([
      "ClusterRole",
      "ClusterRole",
      "ClusterRoleBinding",
      "ClusterRoleBinding",
      "CustomResourceDefinition",
      "Deployment",
      "Namespace",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Role",
      "RoleBinding",
      "ServiceAccount",
    ]);
    expect(all).toContain("image: backup-operator:1");
    await work(cluster, made, { leaderElection: { namespace } });
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  });

  for (const [name, explored, operated] of [
    ["replicas", "replicas: 2", (namespace: string) => ({ leaderElection: { namespace } })],
    [
      "shards",
      "replicas: 2, shards: { count: 2 }",
      (namespace: string) => ({ shards: { namespace, count: 2 } }),
    ],
  ] as const)
    ownServerTest(
      `gives Leases of its own namespace alone when it explores with ${name}`,
      async () => {
        const made = await make(name, explored);
        expect(dangling(made.files)).toEqual([]);
        await using cluster = await GuardedCluster.start(made.files);
        const { admin, namespace, transport } = cluster;
        await work(cluster, made, operated(namespace));
        expect(cluster.denied).toEqual([]);
        expect(await leasesOf(admin, namespace)).not.toEqual([]);

        const client = new KubeClient({ transport, logger: silentLogger });
        const foreign = { namespace: "default", name: "foreign" };
        await admin.create(Lease, { metadata: foreign, spec: { holderIdentity: "other" } });
        const lease = await admin.get(Lease, foreign);
        const other = { namespace: "default", name: "backup-operator" };
        for (const attempt of [
          () => client.create(Lease, { metadata: other }),
          () => client.update(Lease, { ...lease, spec: { holderIdentity: "mine" } }),
          () => client.patch(Lease, foreign, { spec: { holderIdentity: "mine" } }),
          () => client.delete(Lease, foreign),
          () => client.get(Lease, foreign),
          () => leasesOf(client),
        ])
          await expect(attempt()).rejects.toMatchObject({ reason: "Forbidden" });
        expect((await admin.get(Lease, foreign)).spec).toEqual({ holderIdentity: "other" });
      },
    );
});
