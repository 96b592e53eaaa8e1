import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  apiServerPrograms,
  built,
  clientGoPrograms,
  programsFolder,
} from "../../services/apiserver/build.mjs";
import { UnavailableError } from "../../services/apiserver/run-program.mjs";

const MAIN = fileURLToPath(new URL("../../services/apiserver/main.mjs", import.meta.url));

let directory: string;
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-apiserver-test-"));
  lines = [];
  vi.stubEnv("HOLDFAST_CACHE", join(directory, "cache"));
  vi.stubEnv("PATH", join(directory, "bin"));
  vi.stubEnv("DEBIAN_MIRROR", "");
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** Puts programs into the path: shell scripts, which have the machine's tools at hand. */
function install(programs: Record<string, string>): void {
  mkdirSync(join(directory, "bin"));
  for (const [name, text] of Object.entries(programs)) {
    const file = join(directory, "bin", name);
    writeFileSync(file, `#!/bin/sh\nPATH=/usr/bin:/bin\n${text}\n`);
    chmodSync(file, 0o755);
  }
}

const APT_GET = `
case $1 in
  indextargets) echo http://security.example/debian-security/; echo http://mirror.example/debian/;;
  update)
    folder=$(sed -n 's/^Dir::Etc::SourceParts "\\(.*\\)";/\\1/p' "$APT_CONFIG")
    cat "$folder"/*.sources > "$(dirname "$0")/sources";;
  download) touch golang-k8s-apiserver-dev_1%3a0.36-1_all.deb etcd-server_3.5_amd64.deb;;
esac`;

const GO = `#!/bin/sh
case $1 in
  list) echo one; echo two;;
  build) echo one >&2; echo two >&2; while [ "$1" != -o ]; do shift; done; echo "$GO111MODULE" > "$2";;
esac
`;

const DPKG_DEB = `
mkdir -p "$3/usr/lib/go-1.26/bin" "$3/usr/bin" "$3/usr/share/gocode"
cat > "$3/usr/lib/go-1.26/bin/go" <<'END'
${GO}END
chmod +x "$3/usr/lib/go-1.26/bin/go"
echo etcd > "$3/usr/bin/etcd"; echo kubectl > "$3/usr/bin/kubectl"`;

function build(signal?: AbortSignal) {
  return apiServerPrograms(signal, (line: string) => lines.push(line));
}

/** Claims the site of the build, as a process that is alive. */
function pretendToBuild(): string {
  const site = `${programsFolder()}.building`;
  mkdirSync(site, { recursive: true });
  writeFileSync(join(site, "owner"), JSON.stringify({ pid: process.pid, since: Date.now() }));
  return site;
}

/** Names in the cache, at any depth. */
function cached(): string[] {
  const folder = join(directory, "cache");
  return existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]).sort() : [];
}

describe("apiServerPrograms", () => {
  test("builds the programs, reports progress, and removes its temporary files", async () => {
    install({ "apt-get": APT_GET, "dpkg-deb": DPKG_DEB });
    const programs = await build();
    expect(programs.version).toBe("golang-k8s-apiserver-dev 1:0.36-1");
    expect(readFileSync(programs.devapi, "utf8")).toBe("off\n");
    expect(readFileSync(programs.kubectl, "utf8")).toBe("kubectl\n");
    expect(lines.join("\n")).toMatch(
      /^Building the Kubernetes API server: .*\n.* s {2}reading .*\n.* s {2}downloading 87 packages.*\n.* s {2}unpacking .*\n.* s {2}compiling .*\n.* s {2}built$/,
    );
    const folder = programsFolder().slice(join(directory, "cache").length + 1);
    expect(cached()).toEqual(
      [
        "apiserver",
        folder,
        ...["VERSIONS", "devapi", "etcd", "kubectl"].map((name) => join(folder, name)),
      ].sort(),
    );
  });

  test("builds from the Debian mirror of the machine, or the given one", async () => {
    install({ "apt-get": APT_GET, "dpkg-deb": DPKG_DEB });
    await build();
    const sources = () => readFileSync(join(directory, "bin/sources"), "utf8");
    expect(sources()).toMatch(/^URIs: http:\/\/mirror.example\/debian\/$/m);
    rmSync(programsFolder(), { recursive: true });
    vi.stubEnv("DEBIAN_MIRROR", "http://named.example/debian");
    await build();
    expect(sources()).toMatch(/^URIs: http:\/\/named.example\/debian$/m);
  });

  test("builds once", async () => {
    install({ "apt-get": APT_GET, "dpkg-deb": DPKG_DEB });
    const first = await build();
    lines = [];
    pretendToBuild();
    expect(await build()).toEqual(first);
    expect(lines).toEqual([]);
  });

  test.each([
    ["no apt-get", {}, "apt-get does not run: spawn apt-get ENOENT"],
    ["no mirror", { "apt-get": "echo http://other.example/ubuntu" }, "name one with DEBIAN_MIRROR"],
    [
      "no network",
      {
        "apt-get": `case $1 in indextargets) echo http://m/debian;; *) echo no route >&2; exit 100;; esac`,
      },
      "apt-get update failed:\nno route",
    ],
    [
      "sources that do not compile",
      {
        "apt-get": APT_GET,
        "dpkg-deb": DPKG_DEB.replace("echo one;", "echo cannot find package >&2; exit 1;"),
      },
      "go list failed:\ncannot find package",
    ],
  ])("reports why it cannot build and leaves nothing: %s", async (_, programs, reason) => {
    install(programs as Record<string, string>);
    const error = await build().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as Error).message).toContain(reason);
    expect(cached()).toEqual(["apiserver"]);
  });

  test("waits for another process with the same build", async () => {
    const site = pretendToBuild();
    const programs = build();
    await expect.poll(() => lines).toEqual([expect.stringContaining("by another process")]);
    mkdirSync(programsFolder());
    writeFileSync(join(programsFolder(), "VERSIONS"), "theirs\n");
    expect((await programs).version).toBe("theirs");
    expect(existsSync(site)).toBe(true);
  });

  test.each([
    ["a process that is gone", { pid: 2 ** 22 + 1, since: Date.now() }],
    [
      "a process of long ago whose id is used again",
      { pid: process.pid, since: Date.now() - 3_600_001 },
    ],
  ])("takes over the site of %s", async (_, owner) => {
    install({ "apt-get": APT_GET, "dpkg-deb": DPKG_DEB });
    const site = `${programsFolder()}.building`;
    mkdirSync(join(site, "root"), { recursive: true });
    writeFileSync(join(site, "owner"), JSON.stringify(owner));
    expect((await build()).version).toBe("golang-k8s-apiserver-dev 1:0.36-1");
    expect(existsSync(site)).toBe(false);
  });

  test("stops at once when aborted, and leaves nothing", async () => {
    install({ "apt-get": 'echo $$ > $(dirname "$0")/started; exec sleep 600' });
    const stop = new AbortController();
    const reason = new Error("stop");
    const programs = build(stop.signal);
    const rejected = expect(programs).rejects.toBe(reason);
    await expect.poll(() => existsSync(join(directory, "bin/started"))).toBe(true);
    const pid = Number(readFileSync(join(directory, "bin/started"), "utf8"));
    stop.abort(reason);
    await rejected;
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(cached()).toEqual(["apiserver"]);
  });
});

test("clientGoPrograms builds three rivals from the same packages, without etcd and kubectl", async () => {
  const download =
    'touch golang-k8s-client-go-dev_0.36-2_all.deb; echo "$*" > "$(dirname "$0")/names"; touch ';
  install({ "apt-get": APT_GET.replace("touch ", download), "dpkg-deb": DPKG_DEB });
  expect(built()).toEqual({ apiServer: false, clientGo: false });
  const { informer, operator, queue, version } = await clientGoPrograms(undefined, (line) =>
    lines.push(line),
  );
  expect(version).toBe("golang-k8s-client-go-dev 0.36-2");
  for (const program of [informer, operator, queue])
    expect(readFileSync(program, "utf8")).toBe("off\n");
  expect(readdirSync(dirname(queue)).sort()).toEqual(["VERSIONS", "informer", "operator", "queue"]);
  const names = readFileSync(join(directory, "bin/names"), "utf8").trim().split(" ");
  expect(names).toContain("golang-k8s-client-go-dev");
  expect(names).not.toContain("etcd-server");
  expect(names).not.toContain("kubectl");
  expect(lines[0]).toContain("Building the informer, the operator and the work queue of client-go");
  expect(built()).toEqual({ apiServer: false, clientGo: true });
});

test.each([
  ["no download", { "apt-get": "exit 100" }, "apt-get indextargets failed"],
  [
    "sources that do not compile",
    {
      "apt-get": APT_GET,
      "dpkg-deb": DPKG_DEB.replace("echo one;", "echo cannot find package >&2; exit 1;"),
    },
    "go list failed:\ncannot find package",
  ],
])("clientGoPrograms reports the failure and the next step: %s", async (_, programs, reason) => {
  install(programs as Record<string, string>);
  const error = await clientGoPrograms(undefined, (line) => lines.push(line)).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(UnavailableError);
  const { message } = error as Error;
  expect(message).toContain(
    `the informer, the operator and the work queue of client-go cannot be built here: ${reason}`,
  );
  expect(message).toContain("Next: if a download failed, name a mirror in DEBIAN_MIRROR; ");
  expect(message).toContain("then run npm run apiserver -- --client-go again.");
  expect(message).toContain("npm run bench runs without them.");
});

test("npm run apiserver ends with NOT RUN, the reason and exit code 0 if it cannot build", async () => {
  const child = spawn(process.execPath, [MAIN], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(output).toMatch(/^NOT RUN: the Kubernetes API server cannot be built here: apt-get /m);
  expect(readdirSync(dirname(programsFolder()))).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
