import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { realClock } from "@holdfast/clock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { httpsSend } from "../../conformance/https-send.ts";
import { prepareServer } from "../../conformance/prepare-server.ts";
import { paths } from "../../conformance/resources.ts";
import { bodyText, type Send } from "../../conformance/run-script.ts";
import { configMap, widget } from "../../conformance/steps.ts";

const NAMESPACE = "server";
const configMaps = paths.configMaps.replace("$(namespace)", NAMESPACE);
const widgets = paths.widgets.replace("$(namespace)", NAMESPACE);

let server: ApiServer;
let send: Send;

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
  await prepareServer(send, AbortSignal.timeout(60_000));
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

test("the cluster of KUBECONFIG responds to kubectl", async () => {
  const kubectl = process.env["HOLDFAST_KUBECTL"] ?? "kubectl";
  const { stdout } = await promisify(execFile)(kubectl, ["get", "--raw", "/version"]);
  expect(JSON.parse(stdout)).toMatchObject({ major: "1" });
});

describe("our own API server", () => {
  ownServerTest("answers kubectl as an administrator", async () => {
    const flags = ["-n", NAMESPACE];
    await server.kubectl("create", "configmap", "by-kubectl", "--from-literal=text=one", ...flags);
    const output = await server.kubectl("get", "configmap", "by-kubectl", "-o", "json", ...flags);
    expect(JSON.parse(output)).toMatchObject({ kind: "ConfigMap", data: { text: "one" } });
  });

  ownServerTest("keeps its objects, address and certificate through a kill", async () => {
    const { ca, url, pid } = server;
    const created = await ask("POST", configMaps, configMap("kept"));
    await server.kill();
    await expect(ask("GET", `${configMaps}/kept`)).rejects.toThrow("ECONNREFUSED");
    await server.restart();
    expect(await ask("GET", `${configMaps}/kept`)).toMatchObject({
      status: 200,
      body: created.body,
    });
    expect({ ca: server.ca, url: server.url }).toEqual({ ca, url });
    expect(server.pid).not.toBe(pid);
  });

  ownServerTest(
    "answers lists of a custom resource with 429 for a moment after a start",
    async () => {
      await ask("POST", widgets, widget("first"));
      const refusals: object[] = [];
      for (let starts = 0; starts < 10 && refusals.length === 0; starts += 1) {
        await server.restart();
        // A list in pages goes to etcd, and is answered at once.
        for (let answer = await ask("GET", widgets); answer.status !== 200; ) {
          refusals.push(answer);
          answer = await ask("GET", widgets);
        }
      }
      expect(refusals[0]).toMatchObject({
        status: 429,
        retryAfter: "1",
        body: { reason: "TooManyRequests", message: "storage is (re)initializing" },
      });
    },
  );

  ownServerTest("answers lists and watches from a compacted version with 410", async () => {
    const { body } = await ask("POST", configMaps, configMap("compacted"));
    await ask("PUT", `${configMaps}/compacted`, configMap("compacted", { text: "two" }));
    const version = `resourceVersion=${body.metadata.resourceVersion}`;
    const exact = () => ask("GET", `${configMaps}?${version}&resourceVersionMatch=Exact`);
    await server.restart();
    expect(await exact()).toMatchObject({ status: 200 });
    await server.compact();
    await server.restart();
    expect(await exact()).toMatchObject({ status: 410, body: { reason: "Expired" } });
    const stream = await ask("GET", `${configMaps}?watch=true&${version}`);
    expect(stream.body).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  ownServerTest("goes back to earlier versions when its data is put back", async () => {
    const { body: before } = await ask("POST", configMaps, configMap("before"));
    const copy = await server.snapshot();
    const { body: after } = await ask("POST", configMaps, configMap("after"));
    expect(versionOf(after)).toBeGreaterThan(versionOf(before));
    await server.restore(copy);
    expect(await ask("GET", `${configMaps}/after`)).toMatchObject({ status: 404 });
    const { body: list } = await ask("GET", configMaps);
    expect(versionOf(list)).toBeLessThan(versionOf(after));
    const { body: again } = await ask("POST", configMaps, configMap("again"));
    expect(versionOf(again)).toBe(versionOf(after));
  });

  ownServerTest("takes a rotated token at once, and the old one no longer", async () => {
    const token = server.rotateToken();
    expect(await ask("GET", configMaps)).toMatchObject({ status: 401 });
    send = httpsSend({ url: server.url, ca: server.ca, token });
    expect(await ask("GET", configMaps)).toMatchObject({ status: 200 });
    expect(await server.kubectl("get", "namespaces")).toBe("");
  });

  ownServerTest("closes a watch after the time that a flag names", async () => {
    await server.restart(["--min-request-timeout=1"]);
    const began = realClock.monotonic();
    await ask("GET", `${configMaps}?watch=true&fieldSelector=metadata.name=nothing`);
    expect(realClock.monotonic() - began).toBeGreaterThan(900);
    await server.restart([]);
  });

  ownServerTest(
    "answers from its cache while etcd is away, and takes writes after it",
    async () => {
      await server.stopEtcd();
      expect(await ask("GET", `${configMaps}?resourceVersion=0`)).toMatchObject({ status: 200 });
      const write = ask("POST", configMaps, configMap("late"));
      await server.startEtcd();
      expect(await write).toMatchObject({ status: 201 });
    },
  );
});

/** The status, the time of `retry-after` and the JSON of an answer. */
async function ask(method: string, path: string, body?: object) {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await send(request, AbortSignal.timeout(60_000));
  const text = await bodyText(response);
  const retryAfter = response.headers["retry-after"];
  return { status: response.status, retryAfter, body: text === "" ? undefined : JSON.parse(text) };
}

function versionOf(object: { metadata: { resourceVersion: string } }): number {
  return Number(object.metadata.resourceVersion);
}
