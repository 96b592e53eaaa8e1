import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { FakeApi, type FakeApiListener } from "@holdfast/fake-apiserver";
import { builtIn, fromCrd } from "@holdfast/kubernetes";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { httpsSend } from "../../conformance/https-send.ts";
import { prepareServer } from "../../conformance/prepare-server.ts";
import { widgetCrd } from "../../conformance/resources.ts";
import { informerScript } from "./informer-script.ts";
import { kubectlScript } from "./kubectl-script.ts";

const TOKEN = "foreign-clients-token";
const directory = mkdtempSync(join(tmpdir(), "holdfast-foreign-"));
const double = new FakeApi({
  clock: realClock,
  resources: [fromCrd(widgetCrd), builtIn("v1", "ConfigMap"), builtIn("v1", "Namespace")],
});
let server: ApiServer;
let listening: FakeApiListener;
// kubectl sends no token over plain HTTP.
let open: FakeApiListener;

const kubeconfigOf = ({ url }: FakeApiListener) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "double",
  contexts: [{ name: "double", context: { cluster: "double", user: "test" } }],
  clusters: [{ name: "double", cluster: { server: url, "insecure-skip-tls-verify": true } }],
  users: [{ name: "test", user: { token: TOKEN } }],
});

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  const send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
  await prepareServer(send, AbortSignal.timeout(60_000));
  listening = await double.listen({ token: TOKEN });
  open = await double.listen();
  writeFileSync(join(directory, "double"), JSON.stringify(kubeconfigOf(open)));
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await listening?.[Symbol.asyncDispose]();
  await open?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

describe("third-party clients see the double like the real server", () => {
  ownServerTest(
    "kubectl gets, creates, applies, patches, describes, waits and deletes",
    async () => {
      const path = server.kubectlPath;
      const namespace = "foreign-kubectl";
      const real = await kubectlScript({ path, kubeconfig: server.kubeconfig, namespace });
      const fake = await kubectlScript({ path, kubeconfig: join(directory, "double"), namespace });
      expect(fake.join("\n")).toBe(real.join("\n"));
      // Both could fail at every step.
      expect(real.filter((step) => step.endsWith("exit code 0"))).toHaveLength(23);
    },
  );

  ownServerTest("the informer of client-node reports the same events", async () => {
    const real = await informerScript(server.kubeconfigObject, "informer");
    const fake = await informerScript(kubeconfigOf(listening), "informer");
    expect(fake).toEqual(real);
    expect(real).toEqual([
      "add old red",
      "add new green",
      "update new blue",
      "delete old red",
      "cached new",
    ]);
  });
});
