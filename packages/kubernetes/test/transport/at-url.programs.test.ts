import type { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { atUrl, isConnectionError, type KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger, TOKEN } from "../secrets.ts";
import { answer, testServer } from "./test-server.ts";

const { ca, client } = certificates;
const logger = quietLogger();

async function send(transport: KubeTransport): Promise<number> {
  const request = { method: "GET", path: "/version", headers: {} };
  const { status, body } = await transport.send(request, new AbortController().signal);
  await readBody(body, 1_000, "test");
  await transport.closeIdle?.();
  return status;
}

/** A server that demands a certificate of its clients, and the names in them. */
async function demanding() {
  const names: unknown[] = [];
  const server = await testServer(
    (_, response) => {
      names.push((response.socket as TLSSocket).getPeerCertificate().subject.CN);
      answer(response, 200, {});
    },
    { ...certificates.server, ca, requestCert: true },
  );
  return { server, names };
}

describe("atUrl", () => {
  it("shows its client certificate to the server", async () => {
    const { server: started, names } = await demanding();
    await using server = started;
    const none = await errorOf(send(atUrl(server.url, { ca, logger })));
    expect([isConnectionError(none), names]).toEqual([true, []]);
    expect(await send(atUrl(server.url, { ca, ...client, logger }))).toBe(200);
    expect(names).toEqual(["ann"]);
  });

  it("shows the key in no error and nowhere when it is printed", async () => {
    const { server: started } = await demanding();
    await using server = started;
    const secret = client.key.split("\n")[1] ?? "";
    const broken = client.key.replace(secret, `${secret.slice(1)}!`);
    for (const key of [client.key, broken, certificates.elsewhere.key]) {
      const transport = atUrl(server.url, { ca, cert: client.cert, key, logger });
      const result: unknown = await send(transport).catch((error: unknown) => error);
      expect(isConnectionError(result)).toBe(key !== client.key);
      const shown = inspect([transport, result], { depth: Number.POSITIVE_INFINITY });
      expect(shown + JSON.stringify(transport)).not.toContain(secret.slice(1));
    }
  });

  it("acts as another user, also over http where it keeps its token to itself", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const impersonate = {
      user: "system:serviceaccount:team-a:greeter",
      groups: ["readers", "auditors"],
      uid: "7",
      extra: { "example.org/scope": ["a", "b"], Reason: ["drill"], none: [] },
    };
    await send(atUrl(server.url, { token: () => TOKEN, impersonate, logger }));
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      "impersonate-user": impersonate.user,
      "impersonate-uid": "7",
      "impersonate-group": "readers, auditors",
      "impersonate-extra-example.org%2fscope": "a, b",
      "impersonate-extra-reason": "drill",
    });
  });
});
