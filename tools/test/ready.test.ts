import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../services/free-port.mjs";
import { tempFolder } from "../../test/temp-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A repository without packages, and with an `npx` that prints its arguments and fails, or does `NPX`. */
const clone = tempFolder();
beforeAll(() => {
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"])
    cpSync(join(root, file), join(clone, file));
  for (const file of ["ready", "registry-env", "registry-problem"])
    cpSync(join(root, `tools/${file}.mjs`), join(clone, `tools/${file}.mjs`));
  mkdirSync(join(clone, "packages"));
  const view = `#!/bin/sh\necho "\${INTEGRITY:-${pinnedIntegrity()}}"\n`;
  writeFileSync(join(clone, "npm"), view, { mode: 0o755 });
  writeFileSync(
    join(clone, "npx"),
    '#!/bin/sh\necho "npx $*$npm_config_call$npm_config_package" >&2; echo "$*" > "$(dirname "$0")/asked"; exit "$NPX"\n',
    {
      mode: 0o755,
    },
  );
});

/** The hash of pnpm's tarball as a registry names it, from the one in package.json. */
function pinnedIntegrity(): string {
  const [, hash = ""] = manifest("package.json").packageManager.split("+sha512.");
  return `sha512-${Buffer.from(hash, "hex").toString("base64")}`;
}

const WITHOUT_PROXY = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/proxy$/i.test(name)),
);

const manifest = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

interface Start {
  readonly node?: string;
  readonly registry?: string;
  /** Of the repository. */
  readonly folder?: string;
  /** Of `ready.mjs`. */
  readonly args?: readonly string[];
  /** With which `npx` exits. */
  readonly npx?: string;
  readonly env?: Record<string, string>;
}

/** Exit code and errors of `ready.mjs` in a Node of a version, with a registry. */
async function ready({
  node = "20.19.0",
  registry = "http://127.0.0.1:1/",
  folder = clone,
  args = [],
  npx = "1",
  env = {},
}: Start) {
  const versions = `{ value: { ...process.versions, node: "${node}" } }`;
  const disguise = `data:text/javascript,Object.defineProperty(process, "versions", ${versions})`;
  const child = spawn(
    process.execPath,
    ["--import", disguise, join(folder, "tools/ready.mjs"), ...args],
    {
      env: {
        ...WITHOUT_PROXY,
        npm_config_registry: registry,
        NPX: npx,
        PATH: `${folder}:${process.env["PATH"]}`,
        ...env,
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
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
  const [packageManager] = manifest("package.json").packageManager.split("+");
  const flags = problem ? " --prefer-offline --fetch-timeout=5000" : "";
  const npm = `npx --yes${flags}${problem ? " --fetch-retries=0" : ""}`;
  const pnpm = `${flags}${problem ? " --config.fetch-retries=0" : ""}`;
  const lines = [
    ...(problem ? [`${problem} Trying the packages on this machine…`] : []),
    `${npm} ${packageManager} install --frozen-lockfile${pnpm}\n`,
    "The installation failed; see the output of pnpm above.\n",
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

  it.for(["answers", "refuses", "is silent"])(
    "refuses a pnpm of another hash than package.json pins, or of none, if the registry %s",
    async (kind, { expect }) => {
      const answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      using server = await listen(
        createServer((socket) => void (kind === "answers" && socket.end(answer))),
      );
      const registry =
        kind === "refuses" ? `http://127.0.0.1:${await freePort()}/` : server.registry;
      const [pnpm] = manifest("package.json").packageManager.split("+");
      for (const [hash, problem] of [
        ["sha512-evil", `The registry has another ${pnpm} than package.json pins: sha512-evil\n\n`],
        [" ", `The hash of ${pnpm} is not known here, `],
      ] as const) {
        const { code, text } = await ready({ registry, env: { INTEGRITY: hash } });
        expect([code, text]).toEqual([1, expect.stringContaining(problem)]);
        expect(text).not.toContain("npx --yes");
      }
    },
  );

  it("reports a registry that refuses connections, without waiting", async ({ expect }) => {
    const registry = `http://127.0.0.1:${await freePort()}/`;
    const problem = `The registry ${registry} cannot be reached: ECONNREFUSED.`;
    expect(await ready({ registry })).toEqual(failure(problem));
  });

  it("reports after 4 s a registry that does not respond", async ({ expect }) => {
    using silent = await listen(createServer());
    const problem = `The registry ${silent.registry} cannot be reached: no response within 4 s.`;
    expect(await ready(silent)).toEqual(failure(problem));
  });

  it("counts an error status as a response", async ({ expect }) => {
    const answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    using answering = await listen(createServer((socket) => void socket.end(answer)));
    expect(await ready(answering)).toEqual(failure());
  });
});

it("hands the command and the package of an npx around it to none below", async () => {
  const answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  using answering = await listen(createServer((socket) => void socket.end(answer)));
  const env = { npm_config_call: " npm test", npm_config_package: " node@24" };
  expect(await ready({ ...answering, env })).toEqual(failure());
});

describe("ready.mjs programs", () => {
  /** A clone with one example, in which each installation says what it was for. */
  function freshClone() {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-ready-programs-"));
    cpSync(clone, folder, { recursive: true });
    mkdirSync(join(folder, "packages/examples/node_modules"), { recursive: true });
    writeFileSync(join(folder, "packages/examples/package.json"), '{ "dependencies": {} }');
    const asked = join(folder, "asked");
    const install = (...args: string[]) => installIn({}, ...args);
    const installIn = async (env: Record<string, string>, ...args: string[]) => {
      rmSync(asked, { force: true });
      expect(await ready({ folder, args, npx: "0", env })).toMatchObject({ code: 0 });
      if (!existsSync(asked)) return "nothing";
      return readFileSync(asked, "utf8").includes("--prod --filter") ? "programs" : "all";
    };
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    return { folder, install, installIn, [Symbol.dispose]: remove };
  }

  it("installs no development dependencies, and everything once a test needs them", async () => {
    using fresh = freshClone();
    expect(await fresh.install("programs")).toBe("programs");
    expect(await fresh.install("programs")).toBe("nothing");
    expect(await fresh.install()).toBe("all");
    expect(await fresh.install("programs")).toBe("nothing");
    expect(await fresh.install()).toBe("nothing");
  });

  it("removes no tool when the lockfile changes", async () => {
    using fresh = freshClone();
    expect(await fresh.install()).toBe("all");
    writeFileSync(join(fresh.folder, "pnpm-lock.yaml"), "changed");
    expect(await fresh.install("programs")).toBe("all");
  });

  it("installs again after npm, which removes what pnpm has linked", async () => {
    using fresh = freshClone();
    expect(await fresh.install()).toBe("all");
    writeFileSync(join(fresh.folder, "node_modules/.package-lock.json"), "{}");
    expect(await fresh.install()).toBe("all");
    expect(await fresh.install()).toBe("nothing");
  });

  it("installs nothing as the postinstall of pnpm, but as that of npm", async () => {
    using fresh = freshClone();
    const postinstall = (agent: string) =>
      fresh.installIn({ npm_lifecycle_event: "postinstall", npm_config_user_agent: agent });
    expect(await postinstall("pnpm/12.21.0 npm/? node/v20.20.2")).toBe("nothing");
    expect(await postinstall("npm/11.19.1 node/v20.20.2")).toBe("all");
  });

  it("installs again when node_modules of the examples is missing", async () => {
    using fresh = freshClone();
    expect(await fresh.install("programs")).toBe("programs");
    rmSync(join(fresh.folder, "packages/examples/node_modules"), { recursive: true });
    expect(await fresh.install("programs")).toBe("programs");
  });
});

describe("what a program needs", () => {
  const { scripts } = manifest("package.json");
  const { devDependencies } = manifest("tools/package.json");
  const programs = Object.entries<string>(scripts).filter(([, script]) =>
    script.startsWith("node tools/ready.mjs programs && "),
  );

  it("is Node and the compiler, for each program", () => {
    const names = programs.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(["start", "herd", "ethernet", "outbox", "recipe"]),
    );
    for (const [, script] of programs)
      expect(script.split(" && ").slice(1)).toEqual([
        expect.stringMatching(/^tsc -b --noCheck \S+$/),
        expect.stringMatching(/^node \S+\/dist\/\S+\.js( |$)/),
      ]);
  });

  it("is installed without a tool for tests or checks", () => {
    const { importers, snapshots } = parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8"));
    const needed = closure(importers, snapshots, ["tools", "packages/examples", "conformance"]);
    const ofPrograms = Object.keys(importers["packages/examples"].dependencies);
    const tools = Object.keys(devDependencies).filter((name) => !ofPrograms.includes(name));
    expect(tools).toEqual(expect.arrayContaining(["vitest", "typedoc", "eslint", "rolldown"]));
    expect(tools.filter((name) => needed.has(name))).toEqual([]);
    expect(needed.has("rxjs")).toBe(true); // reached through a catalog
    expect(needed.has("has-flag")).toBe(true); // reached through three others
  });
});

describe("npm install", () => {
  it("has nothing to install but calls ready.mjs", () => {
    const { dependencies, devDependencies, scripts } = manifest("package.json");
    expect({ ...dependencies, ...devDependencies }).toEqual({});
    expect(scripts.postinstall).toBe("node tools/ready.mjs");
  });

  it("finds a lockfile for npm ci that lists no package", () => {
    const { packages } = manifest("package-lock.json");
    const { name, license, engines } = manifest("package.json");
    expect(packages).toEqual({ "": { name, license, engines, hasInstallScript: true } });
  });

  it("leads to a root that finds every tool", () => {
    const { dependencies, devDependencies } = manifest("tools/package.json");
    const { publicHoistPattern } = parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"));
    const tools = Object.keys({ ...dependencies, ...devDependencies });
    expect([...publicHoistPattern].sort()).toEqual(tools.sort());
  });
});

type Dependencies = Record<string, { version: string }>;
interface Importer {
  readonly dependencies?: Dependencies;
}
interface Snapshot {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** The names that `pnpm install --prod` brings for workspaces, as the lockfile has them. */
function closure(
  importers: Record<string, Importer>,
  snapshots: Record<string, Snapshot>,
  workspaces: readonly string[],
): Set<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  const visit = (name: string, version: string, from: string): void => {
    names.add(name);
    const isLink = version.startsWith("link:");
    const key = isLink ? join(from, version.slice("link:".length)) : `${name}@${version}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (isLink) {
      visitWorkspace(key);
      return;
    }
    const { dependencies = {}, optionalDependencies = {} } =
      snapshots[key] ?? snapshots[version] ?? {};
    for (const [next, range] of Object.entries({ ...dependencies, ...optionalDependencies }))
      visit(next, range, from);
  };
  const visitWorkspace = (path: string): void => {
    for (const [name, { version }] of Object.entries(importers[path]?.dependencies ?? {}))
      visit(name, version, path);
  };
  workspaces.forEach(visitWorkspace);
  return names;
}
