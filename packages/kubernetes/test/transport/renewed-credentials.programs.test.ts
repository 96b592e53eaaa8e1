import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, connect, createServer as createProxy, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { FakeClock } from "@holdfast/clock/testing";
import {
  atUrl,
  fromKubeConfig,
  fromKubectl,
  inCluster,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger, TOKEN } from "../secrets.ts";

// A fail-over of the server, or a renewal on disk, changes certificates, authorities and tokens under a running client.
// Every way to a server heals at once: no clock moves here, so nothing waits for the age of the credentials.

/** The content of a kubeconfig, as it is on disk now. */
interface Disk {
  ca: string;
  cert?: string;
  key?: string;
  token?: string;
  tokenFile?: string;
  /** Address of the cluster, if it is another one. */
  server?: string;
  /** Current context, if it is another one. */
  current?: string;
  /** Whether nothing can be read for a moment. */
  isUnreadable?: boolean;
}

const base64 = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text).toString("base64");

const clock = new FakeClock();
/** Milliseconds after which every way reads its credentials again. */
const OLD = 1_800_000;
const ends: (() => unknown)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ends.splice(0).reverse()) await end();
});

/** What a server does with a client: the status of its response, or the end of its connection. */
type Judge = (client: {
  name: string | undefined;
  token: string | undefined;
}) => number | "hang up";

/** A server that sees the certificates of its clients, behind a proxy that can forget all connections. */
async function serve(judge: Judge) {
  const seen: string[] = [];
  const tls = {
    ...certificates.server,
    ca: certificates.ca,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const server = createServer(tls, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const token = request.headers.authorization;
    const verdict = judge({ name: subject?.CN as string | undefined, token });
    seen.push(`${request.method} ${verdict}`);
    if (verdict === "hang up") request.socket.destroy();
    else response.writeHead(verdict).end("{}");
  });
  const sockets = new Set<Socket>();
  const { port: behind } = await listening(server);
  const proxy = createProxy((socket) => {
    const onward = connect(behind, "127.0.0.1");
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
    sockets.add(socket);
  });
  const { port } = await listening(proxy);
  const forget = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  ends.push(() => {
    forget();
    server.closeAllConnections();
    proxy.close();
    server.close();
  });
  return { url: `https://127.0.0.1:${port}`, port, seen, forget };
}

async function listening(server: {
  listen: (port: number, host: string, done: () => void) => unknown;
  address: () => unknown;
}) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address() as AddressInfo;
}

type Served = Awaited<ReturnType<typeof serve>>;

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "renewed-"));
  ends.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A way to a server, and how its files change. */
type Way = (
  server: Served,
  disk: Disk,
) => { transport: KubeTransport; write: (disk: Disk) => void };

const kubectl: Way = ({ url }, disk) => {
  const directory = folder();
  const program = join(directory, "kubectl");
  const script = `case "$*" in *--context=*) cat view ;; *) cat current ;; esac`;
  writeFileSync(program, `#!/bin/sh\ncd '${directory}'\n${script}\n`);
  chmodSync(program, 0o755);
  const write = (disk: Disk): void => {
    const { ca, cert, key, token, tokenFile, server = url, current } = disk;
    const user = {
      token,
      tokenFile,
      "client-certificate-data": base64(cert),
      "client-key-data": base64(key),
    };
    const view = {
      clusters: [{ name: "c", cluster: { server, "certificate-authority-data": base64(ca) } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "dev", context: { cluster: "c", user: "u" } }],
      "current-context": "dev",
    };
    const text = disk.isUnreadable ? "" : JSON.stringify(view);
    writeFileSync(join(directory, "current"), text);
    if (current === undefined) writeFileSync(join(directory, "view"), text);
  };
  write(disk);
  return { transport: fromKubectl({ kubectl: program, clock, logger: quietLogger() }), write };
};

const kubeConfig: Way = ({ url }, first) => {
  let disk = first;
  const config = {
    getCurrentCluster: () => ({ server: disk.server ?? url }),
    getCurrentContext: () => disk.current ?? "dev",
    applyToHTTPSOptions: async (options: object) => {
      const { ca, cert, key, token } = disk;
      if (disk.isUnreadable) throw new Error("the plugin failed");
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      Object.assign(options, { ca, cert, key, headers });
    },
  };
  const write = (next: Disk): void => {
    disk = next;
  };
  return { transport: fromKubeConfig(config, { clock, logger: quietLogger() }), write };
};

const pod: Way = ({ port }, disk) => {
  const directory = folder();
  const write = ({ ca, token = TOKEN, isUnreadable }: Disk): void => {
    writeFileSync(join(directory, "token"), isUnreadable ? "" : token);
    writeFileSync(join(directory, "ca.crt"), ca);
  };
  write(disk);
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) };
  return { transport: inCluster({ directory, env, clock, logger: quietLogger() }), write };
};

const url: Way = (server, first) => {
  let { token = "" } = first;
  const options = { ca: first.ca, token: () => token, clock, logger: quietLogger() };
  const write = (disk: Disk): void => {
    token = disk.isUnreadable ? "" : (disk.token ?? "");
  };
  return { transport: atUrl(server.url, options), write };
};

async function send(transport: KubeTransport, method = "GET"): Promise<number | string> {
  const request = { method, path: "/version", headers: {} };
  try {
    const { status, body } = await transport.send(request, new AbortController().signal);
    await readBody(body, 1_000, "test");
    return status;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await transport.closeIdle?.();
  }
}

const { ca, otherCa, client, elsewhere } = certificates;
const isAnn: Judge = ({ name }) => (name === "ann" ? 200 : 401);
const hasToken: Judge = ({ token }) => (token === `Bearer ${TOKEN}` ? 200 : 401);

describe.each<[string, Way]>([
  ["fromKubectl", kubectl],
  ["fromKubeConfig", kubeConfig],
  ["inCluster", pod],
])("%s", (_name, way) => {
  it("uses a replaced authority for the request that it fails, and every method", async () => {
    const server = await serve(() => 200);
    const { transport, write } = way(server, { ca: otherCa });
    expect(await send(transport)).toContain("check the CA");
    for (const method of ["POST", "GET"]) {
      write({ ca: otherCa });
      await send(transport);
      write({ ca });
      expect(await send(transport, method)).toBe(200);
      server.forget();
    }
  });
});

describe.each<[string, Way]>([
  ["fromKubectl", kubectl],
  ["fromKubeConfig", kubeConfig],
])("%s with a client certificate", (_name, way) => {
  it("uses a renewed one after a 401, and repeats no request when nothing has changed", async () => {
    const server = await serve(isAnn);
    const { transport, write } = way(server, { ca, ...elsewhere });
    expect(await send(transport, "POST")).toBe(401);
    expect(server.seen).toEqual(["POST 401"]);
    write({ ca, ...client });
    expect(await send(transport, "POST")).toBe(200);
    expect(server.seen.slice(1)).toEqual(["POST 401", "POST 200"]);
  });

  it("uses a renewed one where the server hangs up, and repeats a GET only", async () => {
    const server = await serve(({ name }) => (name === "ann" ? 200 : "hang up"));
    const { transport, write } = way(server, { ca, ...elsewhere });
    expect(await send(transport)).toContain("ECONNRESET");
    write({ ca, ...client });
    expect(await send(transport, "POST")).toContain("ECONNRESET");
    expect(await send(transport, "POST")).toBe(200);
    write({ ca, ...elsewhere });
    server.forget();
    expect(await send(transport)).toBe(200); // as long as nobody refuses the old one
  });
});

describe.each<[string, Way]>([
  ["fromKubectl", kubectl],
  ["fromKubeConfig", kubeConfig],
  ["inCluster", pod],
  ["atUrl", url],
])("%s with a token", (_name, way) => {
  it("sends a request again only with another token", async () => {
    const server = await serve(hasToken);
    const { transport, write } = way(server, { ca, token: "old" });
    expect(await send(transport)).toBe(401);
    expect(server.seen).toHaveLength(1);
    write({ ca, token: TOKEN });
    expect(await send(transport)).toBe(200);
    server.forget();
    expect(await send(transport)).toBe(200);
    expect(server.seen.slice(1)).toEqual(["GET 401", "GET 200", "GET 200"]);
  });
});

describe.each<[string, Way]>([
  ["fromKubectl", kubectl],
  ["fromKubeConfig", kubeConfig],
  ["inCluster", pod],
  ["atUrl", url],
])("%s whose credentials cannot be read for a moment", (_name, way) => {
  it("goes on with the last ones, until the server refuses them", async () => {
    let refusesOld = false;
    const server = await serve(({ token }) =>
      refusesOld && token === "Bearer old" ? 401 : token === undefined ? 401 : 200,
    );
    const { transport, write } = way(server, { ca, token: "old" });
    expect(await send(transport)).toBe(200);
    write({ ca, token: "old", isUnreadable: true });
    await clock.step(OLD);
    expect(await send(transport)).toBe(200);
    refusesOld = true;
    expect(await send(transport)).toMatch(/printed no JSON|plugin failed|is empty|must be text/);
    expect(await send(transport)).not.toBe(200);
    write({ ca, token: TOKEN });
    expect(await send(transport)).toBe(200);
    expect(server.seen).not.toContain("GET undefined");
  });
});

describe.each<[string, Way]>([
  ["fromKubectl", kubectl],
  ["fromKubeConfig", kubeConfig],
])("%s does not send the credentials of another cluster to its server", (name, way) => {
  it.each<[string, Partial<Disk>]>([
    ["when the context gets another server", { server: "https://127.0.0.1:1" }],
    ["when another context becomes the current one", { current: "prod" }],
  ])("%s", async (_when, change) => {
    const tokens = new Set<string | undefined>();
    let status = 200;
    const server = await serve(({ token }) => {
      tokens.add(token);
      return status;
    });
    const { transport, write } = way(server, { ca, token: TOKEN });
    expect(await send(transport)).toBe(200);
    write({ ca, token: "foreign", ...change });
    await clock.step(OLD);
    expect(await send(transport)).toBe(200);
    status = 401;
    const isPinned = name === "fromKubectl" && change.current !== undefined;
    expect(await send(transport)).toEqual(isPinned ? 401 : expect.stringContaining("server"));
    expect([...tokens]).toEqual([`Bearer ${TOKEN}`]);
  });
});

it("a relative tokenFile belongs to the folder of its kubeconfig", async () => {
  const [first, second] = [folder(), folder()];
  vi.stubEnv("KUBECONFIG", [join(first, "config"), join(second, "config")].join(":"));
  const server = await serve(hasToken);
  const { transport } = kubectl(server, { ca, tokenFile: "secrets/../my-token" });
  expect(await send(transport)).toContain(`${join(first, "my-token")} cannot be read (ENOENT)`);
  writeFileSync(join(second, "my-token"), TOKEN);
  expect(await send(transport)).toBe(200);
});
