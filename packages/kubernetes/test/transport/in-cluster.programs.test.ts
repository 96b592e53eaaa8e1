import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { inCluster, type KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { expectNoSecret, quietLogger, safeErrorOf, TOKEN } from "../secrets.ts";
import { answer, type TestServer, testServer } from "./test-server.ts";

/** The files of a pod's service account, in a folder that is removed at disposal. */
function account(files: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "service-account-"));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  const all = { token: `${TOKEN}\n`, "ca.crt": certificates.ca, namespace: "team-a\n", ...files };
  for (const [name, text] of Object.entries(all)) write(name, text);
  return {
    directory,
    write,
    remove: (name: string) => rmSync(join(directory, name)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

function environment({ url }: TestServer) {
  const { hostname, port } = new URL(url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}

async function send(transport: KubeTransport): Promise<number> {
  const request = { method: "GET", path: "/version", headers: {} };
  const { status, body } = await transport.send(request, new AbortController().signal);
  await readBody(body, 1_000, "test");
  return status;
}

const serve = () => testServer((_, response) => answer(response, 200, {}), certificates.server);

describe("inCluster", () => {
  it("uses token, CA and namespace of the service account", async () => {
    using files = account();
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server) });
    expect(transport.namespace).toBe("team-a");
    expect(transport.description).toBe(`${server.url} (service account)`);
    expect(await send(transport)).toBe(200);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expectNoSecret(transport);
  });

  it("reads the token again after 60 s, on the connection it has", async () => {
    using files = account();
    const clock = new FakeClock();
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server), clock });
    const tokens = () => server.requests.map(({ headers }) => headers.authorization);
    await send(transport);
    files.write("token", "second");
    await clock.step(59_999);
    await send(transport);
    await clock.step(1);
    await send(transport);
    expect(tokens()).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`, "Bearer second"]);
    expect(server.connections()).toBe(1);
    await transport.closeIdle?.();
  });

  it("opens a new connection after the CA has changed, and closes the old one", async () => {
    using files = account();
    const clock = new FakeClock();
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server), clock });
    await send(transport);
    files.write("ca.crt", certificates.otherCa);
    await clock.step(60_000);
    expect((await safeErrorOf(send(transport))).message).toContain("is not signed by");
    files.write("ca.crt", certificates.ca);
    await clock.step(60_000);
    expect(await send(transport)).toBe(200);
    expect(server.sockets.size).toBe(1);
    await transport.closeIdle?.();
  });

  it("reads the token again at once after a 401", async () => {
    using files = account({ token: "old" });
    await using server = await testServer(({ headers }, response) => {
      files.write("token", TOKEN);
      answer(response, headers.authorization === `Bearer ${TOKEN}` ? 200 : 401, {});
    }, certificates.server);
    const transport = inCluster({ directory: files.directory, env: environment(server) });
    expect(await send(transport)).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  it.each(["token", "ca.crt"])(
    "names the file %s when it is missing, and finds it later",
    async (name) => {
      using files = account();
      files.remove(name);
      await using server = await serve();
      const transport = inCluster({ directory: files.directory, env: environment(server) });
      expect((await safeErrorOf(send(transport))).message).toBe(
        `${join(files.directory, name)} cannot be read (ENOENT): check that the pod mounts the token of its service account`,
      );
      files.write(name, name === "token" ? TOKEN : certificates.ca);
      expect(await send(transport)).toBe(200);
    },
  );

  it.each(["token", "ca.crt"])("refuses a file %s above 1 MB", async (name) => {
    using files = account({ [name]: "x".repeat(1_000_001) });
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server) });
    expect((await safeErrorOf(send(transport))).message).toBe(
      `${join(files.directory, name)} cannot be read (EFBIG): check that the pod mounts the token of its service account`,
    );
    files.write(name, name === "token" ? TOKEN.padEnd(1_000_000) : certificates.ca);
    expect(await send(transport)).toBe(200);
  });

  it("has no namespace if its file does not begin with one, or is a pipe", async () => {
    using files = account({ namespace: `${" ".repeat(1_000_000)}team-a` });
    await using server = await serve();
    const { directory } = files;
    expect(inCluster({ directory, env: environment(server) }).namespace).toBeUndefined();
    files.remove("namespace");
    execFileSync("mkfifo", [join(directory, "namespace")]);
    expect(inCluster({ directory, env: environment(server) }).namespace).toBeUndefined();
  });

  it("keeps the last token, with a warning, while the file is gone, until the server refuses it", async () => {
    using files = account();
    const clock = new FakeClock();
    const logger = quietLogger();
    let status = 200;
    await using server = await testServer(
      (_, response) => answer(response, status, {}),
      certificates.server,
    );
    const { directory } = files;
    const transport = inCluster({ directory, env: environment(server), clock, logger });
    await send(transport);
    files.remove("token");
    await clock.step(60_000);
    expect(await send(transport)).toBe(200);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatch(
      /^warn: credentials not read; the last ones stay in use \{ reason: '.*token cannot be read/,
    );
    status = 401;
    expect((await safeErrorOf(send(transport))).message).toContain("token cannot be read (ENOENT)");
  });

  it("names an empty token", async () => {
    using files = account({ token: "\n" });
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server) });
    expect((await safeErrorOf(send(transport))).message).toBe(
      `${join(files.directory, "token")} is empty: check the token of the pod's service account`,
    );
  });

  it("has no namespace if the file is empty", async () => {
    using files = account({ namespace: "\n" });
    await using server = await serve();
    const transport = inCluster({ directory: files.directory, env: environment(server) });
    expect(transport.namespace).toBeUndefined();
  });

  it("needs no namespace file", () => {
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const transport = inCluster({ directory: "/nowhere", env });
    expect(transport.namespace).toBeUndefined();
    expect(transport.description).toBe("https://[fd00::1]:6443 (service account)");
  });

  it("names its requirement when called outside a pod", () => {
    expect(() => inCluster({ env: {} })).toThrow(
      "inCluster() works in a pod only: KUBERNETES_SERVICE_HOST is not set. Use fromKubectl() elsewhere",
    );
  });
});
