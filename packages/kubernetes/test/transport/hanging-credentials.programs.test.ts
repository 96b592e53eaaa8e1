import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import {
  atUrl,
  fromKubeConfig,
  fromKubectl,
  inCluster,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, describe, expect, it } from "vitest";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger, TOKEN } from "../secrets.ts";
import { answer, type TestServer, testServer } from "./test-server.ts";

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "hanging-"));
  ends.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A way to a server, whose token comes from a source that can hang. */
interface Way {
  readonly transport: KubeTransport;
  /** Every reading that begins now waits until `release`. */
  hang(): void;
  /** Ends the readings that hang, with this token. */
  release(token: string): void;
}

interface Facts {
  readonly server: TestServer;
  readonly clock: FakeClock;
  readonly logger: ReturnType<typeof quietLogger>;
}

/** Replaces a file by a pipe that no one writes to. */
function pipe(path: string): void {
  rmSync(path);
  execFileSync("mkfifo", [path]);
  // Opened for both, it ends the readings that hang: each keeps a thread of the process.
  ends.push(() => closeSync(openSync(path, constants.O_RDWR)));
}

/** A function that answers at once, or waits. */
function source() {
  let token = TOKEN;
  let waiting = Promise.resolve();
  let go = (): void => {};
  return {
    read: () => waiting.then(() => token),
    hang: () => {
      waiting = new Promise((resolve) => {
        go = resolve;
      });
      ends.push(go);
    },
    release: (next: string) => {
      token = next;
      waiting = Promise.resolve();
      go();
    },
  };
}

const WAYS: Record<string, (facts: Facts) => Way> = {
  atUrl: ({ server, ...options }) => {
    const { read, hang, release } = source();
    const transport = atUrl(server.url, { ca: certificates.ca, token: read, ...options });
    return { transport, hang, release };
  },
  fromKubeConfig: ({ server, ...options }) => {
    const { read, hang, release } = source();
    const config = new KubeConfig();
    const caData = Buffer.from(certificates.ca).toString("base64");
    config.loadFromClusterAndUser(
      { name: "c", server: server.url, caData, skipTLSVerify: false },
      { name: "plugin" },
    );
    config.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async (_user, { headers = {} }) => {
        Object.assign(headers, { authorization: `Bearer ${await read()}` });
      },
    });
    return { transport: fromKubeConfig(config, options), hang, release };
  },
  fromKubectl: ({ server, ...options }) => {
    const directory = folder();
    const file = (name: string) => join(directory, name);
    const script = `#!/bin/sh\ncd '${directory}'\ncase "$1" in config) cat view ;; *) cat token ;; esac\n`;
    writeFileSync(file("kubectl"), script);
    chmodSync(file("kubectl"), 0o755);
    const ca = Buffer.from(certificates.ca).toString("base64");
    const cluster = { server: server.url, "certificate-authority-data": ca };
    const view = {
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "dev", context: { cluster: "c", user: "u" } }],
      "current-context": "dev",
    };
    writeFileSync(file("view"), JSON.stringify(view));
    writeFileSync(file("token"), TOKEN);
    const kubectl = file("kubectl");
    const transport = fromKubectl({ kubectl, serviceAccount: "default/robot", ...options });
    return {
      transport,
      hang: () => pipe(file("token")),
      release: (token) => void writeFile(file("token"), token),
    };
  },
  inCluster: ({ server, ...options }) => {
    const directory = folder();
    writeFileSync(join(directory, "token"), TOKEN);
    writeFileSync(join(directory, "ca.crt"), certificates.ca);
    const { hostname, port } = new URL(server.url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    return {
      transport: inCluster({ directory, env, ...options }),
      hang: () => pipe(join(directory, "token")),
      release: (token) => void writeFile(join(directory, "token"), token),
    };
  },
};

const never = new AbortController().signal;

async function send(transport: KubeTransport, signal = never): Promise<number> {
  const { status, body } = await transport.send(
    { method: "GET", path: "/version", headers: {} },
    signal,
  );
  await readBody(body, 1_000, "test");
  return status;
}

/** Longer than any way uses what it has read, in milliseconds. */
const OLD = 1_800_000;

describe.each(Object.entries(WAYS))("a token of %s that cannot be read again", (_, way) => {
  async function world(refused: ReadonlySet<string> = new Set()) {
    const clock = new FakeClock();
    const logger = quietLogger();
    const server = await testServer((request, response) => {
      const token = request.headers.authorization ?? "";
      answer(response, refused.has(token) ? 401 : 200, {});
    }, certificates.server);
    const tokens = () => server.requests.map(({ headers }) => headers.authorization);
    return { ...way({ server, clock, logger }), server, clock, logger, tokens };
  }

  it("because its source hangs holds up no request, and the next one is used when it comes", async () => {
    const { transport, hang, release, clock, tokens, ...rest } = await world();
    await using _server = rest.server;
    await send(transport);
    hang();
    await clock.step(OLD);
    const first = send(transport);
    await clock.step(499);
    expect(tokens()).toHaveLength(1);
    await clock.step(1);
    expect(await first).toBe(200);
    // No request waits twice for one reading.
    expect(await Promise.all([send(transport), send(transport)])).toEqual([200, 200]);
    expect(new Set(tokens())).toEqual(new Set([`Bearer ${TOKEN}`]));
    expect(clock.waiters()).toBe(0);
    release("second");
    await expect
      .poll(async () => {
        await send(transport);
        return tokens().at(-1);
      })
      .toBe("Bearer second");
    await transport.closeIdle?.();
  });

  it("is waited for after the server refused the last one, until the signal aborts", async () => {
    const refused = new Set<string>();
    const { transport, hang, release, clock, ...rest } = await world(refused);
    await using _server = rest.server;
    await send(transport);
    hang();
    refused.add(`Bearer ${TOKEN}`);
    const stop = new AbortController();
    const aborted = send(transport, stop.signal).catch((error: unknown) => error);
    await expect.poll(() => rest.tokens()).toHaveLength(2);
    const waiting = send(transport);
    stop.abort("stop");
    expect(await aborted).toBe("stop");
    expect(clock.waiters()).toBe(0);
    release("second");
    expect(await waiting).toBe(200);
    await transport.closeIdle?.();
  });
});
