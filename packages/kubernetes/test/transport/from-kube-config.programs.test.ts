import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { fromKubeConfig, type KubeConfigLike, type KubeTransport } from "@holdfast/kubernetes";
import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, it, vi } from "vitest";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { expectNoSecret, quietLogger, safeErrorOf, TOKEN } from "../secrets.ts";
import { answer, type TestServer, testServer } from "./test-server.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Parts {
  readonly cluster?: object;
  readonly namespace?: string | undefined;
  readonly user?: object;
  readonly context?: string;
}

/** A kubeconfig for the server, with its CA, a token, and the namespace "team-a". */
function kubeConfig(
  server: TestServer,
  { cluster, user, context = "test", ...parts }: Parts = {},
): KubeConfig {
  const { namespace } = { namespace: "team-a", ...parts };
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "c", server: server.url, caData: base64(certificates.ca), ...cluster }],
    users: [{ name: "u", token: TOKEN, ...user }],
    contexts: [{ name: "test", cluster: "c", user: "u", ...(namespace && { namespace }) }],
    currentContext: context,
  });
  return config;
}

/** Counts how often a kubeconfig is asked for its options. */
function counted(config: KubeConfig) {
  const asked = { times: 0 };
  const like: KubeConfigLike = {
    getCurrentCluster: () => config.getCurrentCluster(),
    applyToHTTPSOptions: (options) => {
      asked.times++;
      return config.applyToHTTPSOptions(options);
    },
  };
  return { like, asked };
}

async function send(transport: KubeTransport): Promise<number> {
  const request = { method: "GET", path: "/version", headers: {} };
  const { status, body } = await transport.send(request, new AbortController().signal);
  await readBody(body, 1_000, "test");
  return status;
}

const serve = () =>
  testServer((_, response) => answer(response, 200, {}), {
    ...certificates.server,
    ca: certificates.ca,
    requestCert: true,
    rejectUnauthorized: false,
  });

describe("fromKubeConfig", () => {
  it.each([
    ["exec", (file: string) => ({ exec: { command: "cat", args: [file] } })],
    [
      "exec of an auth-provider",
      (file: string) => ({
        authProvider: { name: "exec", config: { exec: { command: "cat", args: [file] } } },
      }),
    ],
    ...["gcp", "azure"].map(
      (name) =>
        [
          name,
          (file: string) => ({
            authProvider: {
              name,
              config: {
                ...{ "cmd-path": "cat", "cmd-args": file },
                ...{
                  "token-key": "{.status.token}",
                  "expiry-key": "{.status.expirationTimestamp}",
                },
              },
            },
          }),
        ] as const,
    ),
  ] as const)(
    "asks a plugin %s again after the server refused its token, although that has not expired",
    async (_, plugin) => {
      const directory = mkdtempSync(join(tmpdir(), "plugin-"));
      const file = join(directory, "token");
      const issue = (token: string) =>
        writeFileSync(
          file,
          JSON.stringify({ status: { token, expirationTimestamp: "9999-01-01T00:00:00Z" } }),
        );
      const refused = new Set<string | undefined>();
      await using server = await testServer(
        ({ headers }, response) =>
          answer(response, refused.has(headers.authorization) ? 401 : 200, {}),
        certificates.server,
      );
      issue("first");
      const user = { token: undefined, ...plugin(file) };
      const transport = fromKubeConfig(kubeConfig(server, { user }));
      expect(await send(transport)).toBe(200);
      issue("second");
      refused.add("Bearer first");
      expect([await send(transport), await send(transport)]).toEqual([200, 200]);
      issue("third");
      refused.add("Bearer second");
      expect(await send(transport)).toBe(200);
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
        ["first", "first", "second", "second", "second", "third"].map((token) => `Bearer ${token}`),
      );
      await transport.closeIdle?.();
      rmSync(directory, { recursive: true });
    },
  );

  it("uses address, CA, token and namespace of a KubeConfig of client-node", async () => {
    await using server = await serve();
    const transport = fromKubeConfig(kubeConfig(server));
    expect(transport.namespace).toBe("team-a");
    expect(transport.description).toBe(`${server.url} (kubeconfig context test)`);
    expect(await send(transport)).toBe(200);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expectNoSecret(transport);
    await transport.closeIdle?.();
  });

  it("uses the namespace default if the context has none, like kubectl", async () => {
    await using server = await serve();
    expect(fromKubeConfig(kubeConfig(server, { namespace: undefined })).namespace).toBe("default");
  });

  it("warns that it ignores the proxy of the environment, unless the cluster has one", async () => {
    await using server = await serve();
    vi.stubEnv("HTTPS_PROXY", "http://proxy:3128");
    const warned = (cluster: object): readonly string[] => {
      const logger = quietLogger();
      fromKubeConfig(kubeConfig(server, { cluster }), { logger });
      return logger.lines;
    };
    const remote = { server: "https://api.example.org" };
    expect(warned(remote)).toEqual([expect.stringContaining("HTTPS_PROXY is ignored")]);
    expect(warned({ ...remote, proxyUrl: "http://proxy:3128" })).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("keeps its connection, and reads options at most every 10 s", async () => {
    const clock = new FakeClock();
    await using server = await serve();
    const { like, asked } = counted(kubeConfig(server));
    const transport = fromKubeConfig(like, { clock });
    for (let i = 0; i < 20; i++) {
      await send(transport);
      await clock.step(1_000);
    }
    expect(asked.times).toBe(2);
    expect(server.connections()).toBe(1);
    await transport.closeIdle?.();
  });

  it("opens a new connection when the certificate of the user changes", async () => {
    const clock = new FakeClock();
    const names: unknown[] = [];
    await using server = await testServer(
      (_, response) => {
        const socket = response.socket as import("node:tls").TLSSocket;
        names.push(socket.getPeerCertificate().subject?.CN);
        answer(response, 200, {});
      },
      { ...certificates.server, ca: certificates.ca, requestCert: true, rejectUnauthorized: false },
    );
    const config = kubeConfig(server);
    const transport = fromKubeConfig(config, { clock });
    await send(transport);
    const { cert, key } = certificates.client;
    const user = { token: undefined, certData: base64(cert), keyData: base64(key) };
    config.loadFromOptions({ ...kubeConfig(server, { user }) });
    await clock.step(10_000);
    await send(transport);
    expect(names).toEqual([undefined, "ann"]);
    expect(server.connections()).toBe(2);
    expectNoSecret(transport);
    await transport.closeIdle?.();
  });

  it("asks again after a 401", async () => {
    await using server = await testServer(
      (_, response) => answer(response, 401, {}),
      certificates.server,
    );
    const { like, asked } = counted(kubeConfig(server));
    expect(await send(fromKubeConfig(like))).toBe(401);
    expect(asked.times).toBe(2);
  });

  it("uses user and password", async () => {
    await using server = await serve();
    const user = { token: undefined, username: "ann", password: TOKEN };
    await send(fromKubeConfig(kubeConfig(server, { user })));
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${base64(`ann:${TOKEN}`)}`);
  });

  it("verifies TLS unless the kubeconfig turns it off, which it logs once", async () => {
    const logger = quietLogger();
    await using server = await serve();
    const verified = fromKubeConfig(kubeConfig(server, { cluster: { caData: undefined } }), {
      logger,
    });
    expect((await safeErrorOf(send(verified))).message).toContain("is not signed by");
    expect(logger.lines).toEqual([]);

    const cluster = { caData: undefined, skipTLSVerify: true };
    const transport = fromKubeConfig(kubeConfig(server, { cluster }), { logger });
    expect([await send(transport), await send(transport)]).toEqual([200, 200]);
    expect(logger.lines).toEqual([
      `warn: TLS verification is off: the kubeconfig disables it { server: '${server.url}' }`,
    ]);
    await transport.closeIdle?.();
  });

  it("reaches a server without TLS, and logs nothing", async () => {
    const logger = quietLogger();
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const cluster = { caData: undefined, skipTLSVerify: true };
    expect(await send(fromKubeConfig(kubeConfig(server, { cluster }), { logger }))).toBe(200);
    expect(logger.lines).toEqual([]);
  });

  it("creates an agent for a config without one", async () => {
    await using server = await serve();
    const transport = fromKubeConfig({
      getCurrentCluster: () => ({ server: server.url }),
      applyToHTTPSOptions: (options) => {
        Object.assign(options, { ca: certificates.ca, ...certificates.client });
        return Promise.resolve();
      },
    });
    expect(transport.description).toBe(`${server.url} (kubeconfig)`);
    expect([await send(transport), await send(transport)]).toEqual([200, 200]);
    expect(server.connections()).toBe(1);
    await transport.closeIdle?.();
  });

  it("refuses a kubeconfig without a current context", async () => {
    await using server = await serve();
    for (const context of ["", "other"])
      expect(() => fromKubeConfig(kubeConfig(server, { context }))).toThrow(
        new RangeError(
          "config must have a current context with an existing cluster, got none: check current-context of the kubeconfig",
        ),
      );
    expect(() => fromKubeConfig(new KubeConfig())).toThrow(RangeError);
  });

  it("sends the headers of the kubeconfig that have a value", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const config: KubeConfigLike = {
      getCurrentCluster: () => ({ name: "c", server: server.url }),
      applyToHTTPSOptions: async (options) => {
        Object.assign(options, { headers: { "X-Team": ["a", "b"], "X-None": undefined } });
      },
    };
    const transport = fromKubeConfig(config);
    expect(await send(transport)).toBe(200);
    const headers = server.requests[0]?.headers;
    expect([headers?.["x-team"], headers?.["x-none"]]).toEqual(["a, b", undefined]);
    await transport.closeIdle?.();
  });

  it("names the kind of a value that a plugin throws", async () => {
    const config: KubeConfigLike = {
      getCurrentCluster: () => ({ name: "c", server: "https://127.0.0.1:1" }),
      applyToHTTPSOptions: () => Promise.reject("refused"),
    };
    const error = await safeErrorOf(send(fromKubeConfig(config)));
    expect(error.message).toContain("cannot be read: string");
  });

  it("names the transport when a plugin fails, and cuts its text", async () => {
    await using server = await serve();
    const { like } = counted(kubeConfig(server));
    const failing = {
      ...like,
      applyToHTTPSOptions: () => Promise.reject(new Error("x".repeat(5_000))),
    };
    const { message } = await safeErrorOf(send(fromKubeConfig(failing)));
    expect(message).toBe(
      `the credentials for ${server.url} (kubeconfig) cannot be read: ${"x".repeat(1_000)}`,
    );
  });
});
