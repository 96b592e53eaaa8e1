import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { builtIn, type KubeObject, type Resource, runOperator } from "@holdfast/kubernetes";
import { afterAll, describe, expect } from "vitest";
import { buildProject } from "../../../test/build-project.ts";
import { ownServerTest } from "../../../test/cluster.ts";
import { run } from "../../../tools/packages.mjs";
import { GuardedCluster } from "./guarded-cluster.ts";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}

interface BackupObject extends KubeObject {
  spec: { text: string };
  status?: { configMap: string };
}

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const folder = mkdtempSync(join(tmpdir(), "created-operator-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the project of npm create @holdfast/operator on a server where roles decide", () => {
  ownServerTest("works with the rights of its manifests, and uses each of them", async () => {
    const main = fileURLToPath(new URL("../../create-operator/dist/main.js", import.meta.url));
    run(process.execPath, [main, "backup-operator"], folder);
    const project = join(folder, "backup-operator");
    buildProject(project);
    const load = async (file: string) => await import(pathToFileURL(join(project, file)).href);
    const { operator } = await load("dist/operator.js");
    const Backup: Resource<BackupObject> = (await load("dist/resource.js")).Backup;

    const files = [
      "backups.example.org",
      "operator",
      "role",
      "disruption-budget",
      "network-policy",
    ];
    await using cluster = await GuardedCluster.start(
      files.map((name) => join(project, "deploy", `${name}.yaml`)),
    );
    const { admin, namespace, transport, server } = cluster;
    const all = await server.kubectl("kustomize", join(project, "deploy"));
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
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "backup-operator",
        transport,
        setup: operator,
        logger: silentLogger,
        health: false,
        leaderElection: { namespace },
      },
      stop.signal,
    );
    const metadata = { namespace: "default", name: "one" };
    const child = { namespace: "default", name: "backup-one" };
    const [, object = ""] =
      /<<EOF\n(.*?)EOF\n/s.exec(readFileSync(join(project, "README.md"), "utf8")) ?? [];
    writeFileSync(join(project, "one.yaml"), object);
    await server.kubectl("apply", "-n", "default", "-f", join(project, "one.yaml"));
    await cluster.until(async () => (await admin.get(Backup, metadata)).status !== undefined);
    expect((await admin.get(ConfigMap, child)).data).toEqual({ text: "hello" });
    await admin.delete(ConfigMap, child);
    await cluster.until(async () => (await admin.find(ConfigMap, child)) !== undefined);
    stop.abort();
    await running;
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  });
});
