import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  KubeClient,
  type KubeObject,
  runOperator,
  validating,
} from "@holdfast/kubernetes";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger } from "../secrets.ts";

type Configuration = KubeObject & {
  webhooks: { name: string; clientConfig: { caBundle?: string; service: object } }[];
};
const Validating = builtIn<Configuration>(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
);
const Secret = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "Secret");
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Lease = builtIn<KubeObject>("coordination.k8s.io/v1", "Lease");

const check = validating(ConfigMap, { handle: () => [{ message: "no" }] });

async function probe(port: number): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return [response.status, await response.text()];
}

/** A call as an API server makes it: by the name of the Service, with the bundle. */
function call(port: number, ca: string, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      ca,
      servername,
      method: "POST",
      path: "/validate.configmaps.core",
    };
    const outgoing = request(options, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      incoming.on("end", () => resolve(`${incoming.headers.connection} ${text}`));
    });
    outgoing.on("error", reject);
    const review = { uid: "1", operation: "CREATE", object: { metadata: { name: "a" } } };
    outgoing.end(
      JSON.stringify({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        request: review,
      }),
    );
  });
}

describe("runOperator with webhooks", () => {
  it("is ready for calls before its informers, and drains before everything else stops", async () => {
    const api = new FakeApi({
      clock: realClock,
      resources: [Validating, Secret, ConfigMap, Lease],
    });
    const client = new KubeClient({ transport: api.transport });
    const service = { name: "hooks", namespace: "default" };
    const webhooks = [{ name: "validate.configmaps.core", clientConfig: { service } }];
    await client.create(Validating, { metadata: { name: "hooks.default" }, webhooks } as never);
    // As with an operator that converts its own kind: its list fails until its webhooks are called.
    const fault = { type: "status", status: 500 } as const;
    using _lists = api.intercept({ resource: ConfigMap, fault });
    const [port, probes] = [await freePort(), await freePort()];
    const logger = quietLogger();
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "cron",
        transport: { ...api.transport, namespace: "default" },
        setup: ({ cluster }) => {
          cluster.watch(ConfigMap);
          return () => [];
        },
        health: { port: probes },
        webhooks: { hooks: [check], service: "hooks", port, drain: 300 },
        logger,
      },
      stop.signal,
    );
    await expect.poll(async () => (await probe(probes))[0]).toBe(200);
    const [, text] = await probe(probes);
    expect(text).toContain(
      "webhooks ok\nstarted failed, not counted\ninformer configmaps failed, not counted",
    );
    const { webhooks: found } = await client.get(Validating, "hooks.default");
    const ca = Buffer.from(found[0]?.clientConfig.caBundle ?? "", "base64").toString();
    expect(await call(port, ca, "hooks.default.svc")).toMatch(/^keep-alive .*"allowed":false/);
    await expect(call(port, ca, "other.default.svc")).rejects.toThrow(/altnames/);

    stop.abort();
    expect((await probe(probes))[0]).toBe(503);
    expect(await call(port, ca, "hooks.default.svc")).toMatch(/^close /);
    await running;
    await expect(call(port, ca, "hooks.default.svc")).rejects.toThrow(/ECONNREFUSED/);
    expect(logger.lines.join("\n")).not.toMatch(/PRIVATE KEY|BEGIN/);
  });

  it.each(["secret", "directory"] as const)("shows the certificate of a %s", async (kind) => {
    const api = new FakeApi({ clock: realClock, resources: [Secret, ConfigMap, Lease] });
    const client = new KubeClient({ transport: api.transport });
    const { cert, key } = certificates.server;
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const directory = tempFolder(onTestFinished);
    const data = { "tls.crt": base64(cert), "tls.key": base64(key) };
    const metadata = { name: "given", namespace: "default" };
    if (kind === "secret") await client.create(Secret, { metadata, data });
    writeFileSync(join(directory, "tls.crt"), cert);
    writeFileSync(join(directory, "tls.key"), key);
    const [port, probes] = [await freePort(), await freePort()];
    const stop = new AbortController();
    const logger = quietLogger();
    const certificate = kind === "secret" ? { secret: "given" } : { directory };
    const running = runOperator(
      {
        name: "cron",
        transport: { ...api.transport, namespace: "default" },
        setup: () => () => [],
        health: { port: probes },
        webhooks: { hooks: [check], service: "hooks", port, drain: 0, certificate },
        logger,
      },
      stop.signal,
    );
    await expect.poll(async () => (await probe(probes))[0]).toBe(200);
    expect(await call(port, certificates.ca, "localhost")).toContain('"allowed":false');
    if (kind === "secret") {
      await client.patch(Secret, metadata, {
        data: { "tls.key": base64(certificates.client.key) },
      });
      await expect.poll(() => logger.lines.join()).toContain("are no pair");
      expect(await call(port, certificates.ca, "localhost")).toContain('"allowed":false');
    }
    stop.abort();
    await running;
    expect(logger.lines.join("\n")).not.toContain(key.split("\n")[1]);
  });
});
