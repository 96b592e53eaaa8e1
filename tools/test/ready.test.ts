import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, it } from "vitest";
import { freePort } from "../../test/free-port.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A repository without packages, and with an `npx` that prints its arguments and fails. */
const clone = mkdtempSync(join(tmpdir(), "holdfast-ready-"));
beforeAll(() => {
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"])
    cpSync(join(root, file), join(clone, file));
  for (const file of ["ready", "registry-env", "registry-problem"])
    cpSync(join(root, `tools/${file}.mjs`), join(clone, `tools/${file}.mjs`));
  mkdirSync(join(clone, "packages"));
  writeFileSync(join(clone, "npx"), '#!/bin/sh\necho "npx $*" >&2; exit 1\n', { mode: 0o755 });
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const WITHOUT_PROXY = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/proxy$/i.test(name)),
);

/** Exit code and errors of `ready.mjs` in a Node of a version, with a registry. */
async function ready({ node = "20.19.0", registry = "http://127.0.0.1:1/" }) {
  const versions = `{ value: { ...process.versions, node: "${node}" } }`;
  const disguise = `data:text/javascript,Object.defineProperty(process, "versions", ${versions})`;
  const child = spawn(process.execPath, ["--import", disguise, join(clone, "tools/ready.mjs")], {
    env: {
      ...WITHOUT_PROXY,
      npm_config_registry: registry,
      PATH: `${clone}:${process.env["PATH"]}`,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  return { code, text };
}

/** A registry of which only the first bytes of an answer matter. */
async function listen(server: Server) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { registry, [Symbol.dispose]: close };
}

/** The errors of an installation that fails, after a problem of the registry if there is one. */
function failure(problem?: string): { code: number; text: string } {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const flags = problem ? " --prefer-offline --fetch-timeout=5000" : "";
  const npm = `npx --yes${flags}${problem ? " --fetch-retries=0" : ""}`;
  const pnpm = `--trust-lockfile${flags}${problem ? " --config.fetch-retries=0" : ""}`;
  const lines = [
    ...(problem ? [`${problem} Trying the packages on this machine…`] : []),
    `${npm} ${packageManager} install --frozen-lockfile ${pnpm}\n`,
    "The installation failed; what pnpm said is above.\n",
  ];
  return { code: 1, text: lines.join("\n") };
}

describe.concurrent("ready.mjs", () => {
  it.for(["14.21.3", "18.20.8", "20.18.3"])(
    "refuses Node %s with one line",
    async (node, { expect }) => {
      const text = `Holdfast needs Node >=20.19; this is ${node}.\n`;
      expect(await ready({ node })).toEqual({ code: 1, text });
    },
  );

  it("says that a registry refuses connections, and does not wait for it", async ({ expect }) => {
    const registry = `http://127.0.0.1:${await freePort()}/`;
    const problem = `The registry ${registry} cannot be reached: ECONNREFUSED.`;
    expect(await ready({ registry })).toEqual(failure(problem));
  });

  it("says after 4 s that a registry does not answer", async ({ expect }) => {
    using silent = await listen(createServer());
    const problem = `The registry ${silent.registry} cannot be reached: no answer within 4 s.`;
    expect(await ready(silent)).toEqual(failure(problem));
  });

  it("takes an error for an answer", async ({ expect }) => {
    const answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    using answering = await listen(createServer((socket) => void socket.end(answer)));
    expect(await ready(answering)).toEqual(failure());
  });
});
