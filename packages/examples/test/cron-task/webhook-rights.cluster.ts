import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { silentLogger } from "@holdfast/controller";
import { builtIn, ensureCrd, KubeClient, type KubeObject, runOperator } from "@holdfast/kubernetes";
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { migrate } from "../../../../test/migrated-storage.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { jobTemplate } from "./cron-world.ts";
import { CronTasks, check, fill } from "./hooks.mjs";

const run = promisify(execFile);
const HOOKS = fileURLToPath(new URL("hooks.mjs", import.meta.url));
const COMMAND = fileURLToPath(new URL("../../../kubernetes/dist/bin/main.js", import.meta.url));
const SERVICE = "hooks";
const NAMESPACE = "cron-task";
const SECRET = { name: `${SERVICE}-certificates`, namespace: NAMESPACE };
const CRD = "crontasks.batch.example.org";
const Secret = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "Secret");
const Crd = builtIn<KubeObject & { spec: { versions: { name: string; storage: boolean }[] } }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
);
const EndpointSlice = builtIn<KubeObject>("discovery.k8s.io/v1", "EndpointSlice");

const account = { kind: "ServiceAccount", name: NAMESPACE, namespace: NAMESPACE };
const AUTHORIZATION = "rbac.authorization.k8s.io";
const bind = (kind: "Role" | "ClusterRole", name: string) => ({
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: `${kind}Binding`,
  metadata: { name, ...(kind === "Role" && { namespace: NAMESPACE }) },
  roleRef: { apiGroup: AUTHORIZATION, kind, name },
  subjects: [account],
});

/** All that an administrator applies beside the generated files. The rights are those of docs/upgrading-the-crd.md. */
const BESIDE = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
  {
    apiVersion: "v1",
    ...{ kind: account.kind, metadata: { name: NAMESPACE, namespace: NAMESPACE } },
  },
  bind("Role", SECRET.name),
  bind("ClusterRole", `${SERVICE}.${NAMESPACE}`),
  {
    apiVersion: `${AUTHORIZATION}/v1`,
    kind: "ClusterRole",
    metadata: { name: "migration" },
    rules: [
      { apiGroups: ["batch.example.org"], resources: ["crontasks"], verbs: ["list", "patch"] },
      { apiGroups: ["batch.example.org"], resources: ["crontasks/status"], verbs: ["patch"] },
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        resourceNames: [CRD],
        verbs: ["get"],
      },
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions/status"],
        resourceNames: [CRD],
        verbs: ["patch"],
      },
    ],
  },
  bind("ClusterRole", "migration"),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: NAMESPACE, namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { app: SERVICE } },
      template: {
        metadata: { labels: { app: SERVICE } },
        spec: { serviceAccountName: NAMESPACE, containers: [{ name: "operator", image: "a" }] },
      },
    },
  },
];

ownServerTest(
  "webhooks, their certificates and a migration need the rights of the generated manifests, and each of them",
  async () => {
    const folder = tempFolder(onTestFinished);
    const place = ["--service", SERVICE, "--namespace", NAMESPACE];
    const command = [COMMAND, "manifests", HOOKS, "--out", "deploy", ...place];
    await run(process.execPath, command, { cwd: folder });
    await run(process.execPath, [...command, "--check"], { cwd: folder });
    const generated = readdirSync(join(folder, "deploy")).map((name) => join("deploy", name));
    const files = BESIDE.map((object, index) => {
      const name = `${index}.yaml`;
      writeFileSync(join(folder, name), JSON.stringify(object));
      return name;
    });
    const inFolder = [...files, ...generated].map((name) => join(folder, name));
    await using cluster = await GuardedCluster.start(inFolder);
    const { admin, transport } = cluster;

    const [port, stop] = [await freePort(), new AbortController()];
    const running = runOperator(
      {
        name: "cron-task",
        transport: {
          ...{ description: transport.description, namespace: NAMESPACE },
          send: (request, signal) => transport.send(request, signal),
        },
        setup: () => () => [],
        webhooks: { service: SERVICE, hooks: [check, fill], convert: [CronTasks], port, drain: 0 },
        ...{ leaderElection: false, health: false, logger: silentLogger },
      },
      stop.signal,
    );
    await admin.create(EndpointSlice, {
      metadata: {
        ...{ name: SERVICE, namespace: NAMESPACE },
        labels: { "kubernetes.io/service-name": SERVICE },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "", port, protocol: "TCP" }],
    } as object);
    const metadata = { name: "a", namespace: "default" };
    const isDone = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      );
    await cluster.until(() =>
      isDone(admin.apply(CronTasks.v1, { metadata, spec: { schedule: "1 2 3 4 5", jobTemplate } })),
    );
    await cluster.until(async () => {
      const found = await admin.find(CronTasks.v2, metadata).catch(() => undefined);
      return found?.spec.schedule.minute === "1";
    });
    // A Secret that is damaged is written anew.
    await admin.patch(Secret, SECRET, { data: { "tls.key": null } } as object);
    await cluster.until(
      async () => (await admin.get(Secret, SECRET)).data?.["tls.key"] !== undefined,
    );

    const { spec, ...rest } = await admin.get(Crd, CRD);
    const versions = spec.versions.map((one) => ({ ...one, storage: one.name === "v2" }));
    const flipped = { ...rest, spec: { ...spec, versions } };
    await ensureCrd(admin, flipped);
    const migration = {
      resource: { ...CronTasks, storage: "v2", crd: flipped },
      client: new KubeClient({ transport }),
    };
    await migrate(migration);
    await migrate({ ...migration, retire: ["v1"] });
    stop.abort();
    await running;
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  },
);
