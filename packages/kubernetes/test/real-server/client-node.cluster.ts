import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { TLSSocket } from "node:tls";
import { silentLogger } from "@holdfast/controller";
import { builtIn, fromKubeConfig, isApiError, KubeClient } from "@holdfast/kubernetes";
import { CoreV1Api, Exec, KubeConfig, Log } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { certificates } from "../certificates/certificates.ts";
import { type TestServer, testServer } from "../transport/test-server.ts";

// One kubeconfig for both clients: ours, and client-node for logs, exec, attach and port-forward. The server has no
// kubelet, so a front stands for one.

const ConfigMap = builtIn("v1", "ConfigMap");
const directory = mkdtempSync(join(tmpdir(), "holdfast-client-node-"));
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const LOG = "/api/v1/namespaces/default/pods/web-0/log";

let server: ApiServer;
let front: TestServer;
let kubeconfig: string;

/** Lets clients with a certificate through, as its user, and has the log of a Pod that never ends. */
async function startFront(): Promise<TestServer> {
  const tls = { ...certificates.server, ca: certificates.ca, requestCert: true };
  return await testServer(({ method, path, body }, response) => {
    const { subject } = (response.socket as TLSSocket).getPeerCertificate();
    if (path.startsWith(LOG)) {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write(`hello ${subject.CN}\n`);
      setImmediate(() =>
        response.write(`${path.includes("follow=true") ? "and on" : "the end"}\n`),
      );
      return;
    }
    const headers = { authorization: `Bearer ${server.adminToken}`, accept: "application/json" };
    const onward = httpsRequest(new URL(path, server.url), { method, headers, ca: server.ca });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, { "content-type": "application/json" });
      answer.pipe(response);
    });
    onward.end(body);
  }, tls);
}

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  front = await startFront();
  const plugin = join(directory, "plugin.mjs");
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: server.adminToken },
  };
  writeFileSync(plugin, `console.log(${JSON.stringify(JSON.stringify(credential))});\n`);
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: [plugin],
    interactiveMode: "Never",
  };
  const users = {
    token: { token: server.adminToken },
    plugin: { exec },
    certificate: {
      "client-certificate-data": base64(certificates.client.cert),
      "client-key-data": base64(certificates.client.key),
    },
    stranger: { token: "of nobody" },
  };
  const clusterOf = (url: string, ca: string) => ({
    server: url,
    "certificate-authority-data": base64(ca),
  });
  const names = Object.keys(users);
  kubeconfig = join(directory, "kubeconfig");
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "stranger",
    clusters: [
      { name: "server", cluster: clusterOf(server.url, server.ca) },
      { name: "front", cluster: clusterOf(front.url, certificates.ca) },
    ],
    users: Object.entries(users).map(([name, user]) => ({ name, user })),
    contexts: names.map((user) => ({
      name: user,
      context: { cluster: user === "certificate" ? "front" : "server", user },
    })),
  };
  writeFileSync(kubeconfig, JSON.stringify(content));
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** Both clients, with one kubeconfig. */
function bothIn(context: string) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  config.setCurrentContext(context);
  const transport = fromKubeConfig(config, { logger: silentLogger });
  return { config, client: new KubeClient({ transport, logger: silentLogger }) };
}

describe("one kubeconfig for our client and client-node", () => {
  for (const context of ["token", "plugin", "certificate"])
    ownServerTest(`authenticates both with a ${context}`, async () => {
      const { config, client } = bothIn(context);
      const ref = { namespace: "default", name: `by-${context}` };
      const { metadata } = await client.create(ConfigMap, { metadata: ref });
      const theirs = await config.makeApiClient(CoreV1Api).readNamespacedConfigMap(ref);
      expect(theirs.metadata?.uid).toBe(metadata.uid);
    });

  ownServerTest("is refused for both if its user is nobody", async () => {
    const { config, client } = bothIn("stranger");
    const error = await errorOf(client.find(ConfigMap, "default/a"));
    expect([isApiError(error), error]).toMatchObject([true, { status: 401 }]);
    const theirs = config
      .makeApiClient(CoreV1Api)
      .listNamespacedConfigMap({ namespace: "default" });
    expect(await errorOf(theirs)).toMatchObject({ code: 401 });
  });

  ownServerTest("lets client-node follow a log until its abort", async () => {
    const { config } = bothIn("certificate");
    const output = new PassThrough();
    const lines = output.setEncoding("utf8").iterator() as AsyncIterator<string>;
    // As in the guide. Without a listener, the abort ends a process that uses client-node 2.
    output.once("pipe", (source: PassThrough) => source.on("error", () => {}));
    const following = await new Log(config).log("default", "web-0", "web", output, {
      follow: true,
      tailLines: 10,
    });
    let text = "";
    while (text.split("\n").length < 3) text += (await lines.next()).value;
    expect(text).toBe("hello ann\nand on\n");
    following.abort();
  });

  ownServerTest("reaches the server with exec, which has no kubelet here", async () => {
    const { config } = bothIn("token");
    const [ns, output] = ["default", new PassThrough()];
    const call = new Exec(config).exec(ns, "web-0", "web", ["ls"], output, output, null, false);
    const error = await errorOf(call);
    expect(JSON.stringify((error as { message?: string }).message ?? String(error))).toContain(
      "404",
    );
  });
});
