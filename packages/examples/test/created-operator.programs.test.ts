import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type CustomObject, fromCrd, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../../services/free-port.mjs";
import { buildProject } from "../../../test/build-project.ts";
import { kubectlInPlace } from "../../../test/kubectl-in-place.ts";
import { parsePrometheusText } from "../../../test/prometheus-text.ts";
import { run } from "../../../tools/packages.mjs";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const folder = mkdtempSync(join(tmpdir(), "created-operator-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The made project, compiled, with the CRD of its resource, and running as `npm run dev` runs it, without a terminal. */
async function start() {
  const main = fileURLToPath(new URL("../../create-operator/dist/main.js", import.meta.url));
  run(process.execPath, [main, "backup-operator"], folder);
  const project = join(folder, "backup-operator");
  buildProject(project);
  const holdfast = fileURLToPath(new URL("../../kubernetes/dist/bin/main.js", import.meta.url));
  const check = ["manifests", "dist/resource.js", "--out", "deploy", "--check"];
  expect(run(process.execPath, [holdfast, ...check], project)).toBe("");
  const crd = parse(readFileSync(join(project, "deploy/backups.example.org.yaml"), "utf8"));
  const Backup = fromCrd<CustomObject<{ text: string }>>(crd);
  const api = new FakeApi({ clock: realClock, resources: [Backup, ConfigMap, Lease] });
  const server = await api.listen();
  const port = await freePort();
  const child = spawn(process.execPath, ["--enable-source-maps", "dist/operator.js"], {
    cwd: project,
    env: { ...kubectlInPlace(project, server.url), PORT: String(port) },
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  return { api, Backup, child, closed: once(child, "close"), output, port, server };
}

describe("the project of npm create @holdfast/operator, running", () => {
  it("compiles, has the CRD of its resource, serves metrics that a scraper reads, and logs a line of JSON per record", async () => {
    const { api, Backup, child, closed, output, port, server } = await start();
    await using _ = server;
    const ask = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
    const until = async (condition: () => Promise<boolean>) =>
      await poll(condition, { backoff: { duration: 50 }, timeout: Number.POSITIVE_INFINITY });
    try {
      await until(
        async () =>
          await ask("/readyz").then(
            ({ ok }) => ok,
            () => false,
          ),
      );
      api.intercept({
        fault: { type: "status", status: 500 },
        verbs: ["patch"],
        resource: ConfigMap,
        times: 1,
      });
      const metadata = { namespace: "default", name: "one" };
      await api.client.create(Backup, { metadata, spec: { text: "a" } });
      const child = { namespace: "default", name: "backup-one" };
      await until(async () => (await api.client.find(ConfigMap, child)) !== undefined);

      const response = await ask("/metrics");
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/plain; version=0.0.4; charset=utf-8",
      ]);
      const families = parsePrometheusText(await response.text());
      expect(
        families.get("leader_election_master_status")?.samples.map(({ value }) => value),
      ).toEqual([1]);
      const failed = families
        .get("controller_runtime_reconcile_errors_total")
        ?.samples.find(({ labels }) => labels === 'controller="backup"');
      expect(failed?.value).toBe(1);
      expect(families.get("process_resident_memory_bytes")?.type).toBe("gauge");
    } finally {
      child.kill("SIGTERM");
    }
    expect(await closed).toEqual([0, null]);
    expect(output.stderr).toBe("");
    const records = output.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.length).toBeGreaterThan(5);
    for (const record of records)
      expect(record).toMatchObject({
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        level: expect.stringMatching(/^(info|warn|error)$/),
        msg: expect.any(String),
      });
    const failures = records.filter(({ err }) => err !== undefined);
    expect(failures).toEqual([
      expect.objectContaining({
        key: "default/one",
        err: expect.objectContaining({
          name: "ApiError",
          stack: expect.stringContaining("operator.ts"),
        }),
      }),
    ]);
  });
});
