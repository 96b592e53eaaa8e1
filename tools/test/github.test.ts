import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { tempFolder } from "../../test/temp-folder.ts";
import { publishedManifest } from "../build.mjs";
import { publicPackages } from "../packages.mjs";
import { FOLDERS, unpinned, unpinnedImages } from "../workflows.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const { scripts } = JSON.parse(read("package.json"));

interface Job {
  readonly uses?: string;
  readonly permissions?: Record<string, string>;
  readonly steps?: readonly {
    readonly run?: string;
    readonly uses?: string;
    readonly with?: Record<string, unknown>;
  }[];
}

const workflows = readdirSync(`${root}.github/workflows`).map((file) => {
  const { jobs }: { jobs: Record<string, Job> } = parse(read(`.github/workflows/${file}`));
  const runs = Object.values(jobs).flatMap(({ steps = [] }) =>
    steps.flatMap(({ run }) => run?.split("\n") ?? []),
  );
  return { file, jobs, runs };
});

describe("a workflow", () => {
  it.each(workflows)("runs commands that exist: $file", ({ runs }) => {
    const commands = runs.join("\n");
    const names = [...commands.matchAll(/npm run (\S+)/g)].map(([, name]) => name);
    expect(names.filter((name) => !Object.hasOwn(scripts, name ?? ""))).toEqual([]);
    const files = [...commands.matchAll(/(?:node |^)(tools\/\S+|\.ci\/\S+)/gm)].map(
      ([, file]) => file,
    );
    expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
  });

  it("runs each kind of test beside the others for a pull request", () => {
    const [ci] = workflows;
    expect(Object.keys(ci?.jobs ?? {})).toEqual(["check", "test", "services", "cluster"]);
    expect(Object.values(ci?.jobs ?? {}).filter((job) => "needs" in job)).toEqual([]);
    expect(ci?.jobs["test"]).toMatchObject({
      strategy: {
        matrix: {
          os: ["ubuntu-latest", "macos-latest", "windows-latest"],
          node: [20, 22, 24, 26],
        },
      },
    });
  });

  it("checks everything each night, and a release begins with it", () => {
    const [, nightly, release] = workflows;
    expect(nightly?.runs).toEqual(expect.arrayContaining([".ci/run", "npm run nightly"]));
    expect(release?.jobs).toMatchObject({
      check: { uses: "./.github/workflows/nightly.yml" },
      pack: { needs: "check", permissions: { contents: "read" } },
      matrix: { needs: "pack", permissions: {} },
      publish: { needs: ["pack", "matrix"], permissions: { "id-token": "write" } },
    });
  });

  it("gives the right to publish to a job that runs no code of others", () => {
    const release = workflows.find(({ file }) => file === "release.yml");
    const { publish, ...others } = release?.jobs ?? {};
    expect(JSON.stringify(others)).not.toContain("id-token");
    const steps = publish?.steps ?? [];
    const names = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses.split("@")[0]]));
    expect(names).toEqual(["actions/setup-node", "actions/download-artifact"]);
    const commands = steps.map(({ run = "" }) => run).join("\n");
    expect(commands).not.toMatch(/npx|npm (ci|install|run|exec)|node |git /);
    expect(commands.match(/npm publish/g)?.length).toBe(
      commands.match(/--ignore-scripts/g)?.length,
    );
  });

  it("keeps no credentials of a checkout that releases", () => {
    const release = workflows.find(({ file }) => file === "release.yml");
    const checkouts = Object.values(release?.jobs ?? {}).flatMap(({ steps = [] }) =>
      steps.filter(({ uses }) => uses?.startsWith("actions/checkout@")),
    );
    expect(checkouts.length).toBeGreaterThan(0);
    for (const step of checkouts) expect(step.with).toMatchObject({ "persist-credentials": false });
  });

  it.each([
    ["as it was packed", () => {}, 0],
    ["changed by a script", (folder: string) => writeFileSync(join(folder, "b.tgz"), "evil"), 1],
    ["beside another one", (folder: string) => writeFileSync(join(folder, "c.tgz"), "evil"), 1],
    ["missing", (folder: string) => rmSync(join(folder, "b.tgz")), 1],
  ])("publishes a tarball only as it was packed: %s", (_name, tamper, failed) => {
    const release = workflows.find(({ file }) => file === "release.yml");
    const runOf = (job: string, start: string) =>
      release?.jobs[job]?.steps?.map(({ run = "" }) => run).find((run) => run.includes(start)) ??
      "";
    const folder = tempFolder(onTestFinished);
    const outputs = join(tempFolder(onTestFinished), "outputs");
    for (const name of ["a.tgz", "b.tgz"]) writeFileSync(join(folder, name), name);
    const sh = (script: string, env: Record<string, string>) =>
      spawnSync("bash", ["-eo", "pipefail", "-c", script], {
        cwd: folder,
        env: { ...process.env, ...env },
      }).status;
    expect(sh(runOf("pack", "sha256sum"), { GITHUB_OUTPUT: outputs })).toBe(0);
    const [, HASHES = ""] =
      /^hashes<<END\n([\s\S]*)\nEND\n$/.exec(readFileSync(outputs, "utf8")) ?? [];
    tamper(folder);
    expect(Number(sh(runOf("publish", "sha256sum"), { HASHES }) !== 0)).toBe(failed);
  });

  it("publishes every public package with provenance, dependencies first", () => {
    const text = read(".github/workflows/release.yml");
    const published = /for package in (.*); do/.exec(text)?.[1]?.split(" ") ?? [];
    const packages = publicPackages();
    expect([...published].sort()).toEqual(
      packages.map(({ folder }) => folder.replace("packages/", "")).sort(),
    );
    for (const { folder, manifest } of packages) {
      const own = published.indexOf(folder.replace("packages/", ""));
      const dependencies = Object.keys(publishedManifest(manifest, {}).dependencies ?? {});
      for (const name of dependencies.filter((one) => one.startsWith("@holdfast/")))
        expect(published.slice(0, own)).toContain(name.replace("@holdfast/", ""));
    }
    expect(text).toContain("--provenance --access public");
  });
});

describe("tools/workflows.mjs", () => {
  const check = (...files: string[]) => {
    const args = [`${root}tools/workflows.mjs`, ...files];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return { status, problems: stderr.trimEnd().split("\n") };
  };

  it("refuses what the service would refuse, and an action by its tag", () => {
    const folder = tempFolder(onTestFinished);
    const file = join(folder, "ci.yml");
    const text = read(".github/workflows/ci.yml")
      .replace("  contents: read", "  content: read")
      .replace(/ {6}- uses: .*/, "      - uses: actions/checkout@v4");
    writeFileSync(file, text);
    const { status, problems } = check(file);
    expect(problems).toEqual([
      expect.stringMatching(/ci\.yml:\d+: unknown permission scope "content"/),
      expect.stringMatching(/ci\.yml:\d+: actions\/checkout@v4 needs a commit: OWNER/),
    ]);
    expect(status).toBe(1);
  });
});

describe("what a workflow takes from others", () => {
  const SHA = "a".repeat(40);
  const DIGEST = `sha256:${"b".repeat(64)}`;
  const job = (text: string) => unpinned(`jobs:\n  a:\n${text.replaceAll(/^/gm, "    ")}`);
  const steps = (text: string) => job(`steps:\n  - ${text}`);

  it("is pinned in every workflow of the repository, also those that a new project gets", () => {
    const all = execFileSync("git", ["ls-files", "--", "*.yml", "*.yaml"], {
      cwd: root,
      encoding: "utf8",
    })
      .split("\n")
      .filter((file) => /(^|\/)\.github\/(workflows|actions)\/|(^|\/)action\.ya?ml$/.test(file));
    const inFolders = FOLDERS.flatMap((folder: string) =>
      readdirSync(root + folder).map((file) => `${folder}/${file}`),
    );
    expect(inFolders.toSorted()).toEqual(all.toSorted());
    expect(all.length).toBeGreaterThan(3);
    for (const file of all) expect([file, unpinned(read(file))]).toEqual([file, []]);
  });

  it("is pinned in every Dockerfile, also in that of a new project and in those of the guides", () => {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    const texts = tracked.flatMap((file) => {
      if (/(^|\/)(Dockerfile|Containerfile)[^/]*$|\.dockerfile$/i.test(file))
        return [[file, read(file)] as const];
      if (!file.endsWith(".md")) return [];
      const blocks = read(file).matchAll(/^```(?:\w+)\n(FROM [\s\S]*?)^```/gm);
      return [...blocks].map(([, text = ""]) => [file, text] as const);
    });
    expect(texts.map(([file]) => file)).toEqual(
      expect.arrayContaining([
        "docs/first-operator.md",
        "packages/create-operator/template/Dockerfile",
      ]),
    );
    for (const [file, text] of texts) expect([file, unpinnedImages(text)]).toEqual([file, []]);
  });

  it.each([
    ["FROM node:24-slim"],
    ["from --platform=linux/amd64 node AS build"],
    ["FROM node:24-slim@sha256:abc"],
    ["ARG IMAGE=node\nFROM $IMAGE"],
    [`FROM node@${DIGEST} AS build\nFROM builder`],
    [`FROM node@${DIGEST}\nCOPY --from=busybox:1 /bin/sh /bin/sh`],
    [`FROM node@${DIGEST}\nRUN --mount=type=bind,from=busybox,target=/x ls /x`],
    [`# syntax=docker/dockerfile:1\nFROM node@${DIGEST}`],
  ])("is refused in a Dockerfile as an image by its tag: %s", (text) => {
    expect(unpinnedImages(text)).toEqual([
      expect.stringMatching(/^\d+: \S+ needs a digest: NAME@sha256:DIGEST$/),
    ]);
  });

  it("is accepted in a Dockerfile with a digest, as an earlier stage, and as an empty image", () => {
    const stages = `FROM node:24@${DIGEST} AS Build\nFROM build AS next\nCOPY --from=Build /a /a`;
    expect(unpinnedImages(`${stages}\nCOPY --from=0 /b /b\nFROM scratch\n# FROM x`)).toEqual([]);
  });

  it.each([
    ["container: node:20"],
    ["container: node:20@sha256:abc"],
    ["container: $" + "{{ matrix.image }}"],
    ["container: { image: node:20 }"],
    ["container:\n  image: node:20\n  env: { A: b }"],
    ["services: { db: { image: postgres } }"],
    ["services:\n  db:\n    image: postgres:17"],
    [`container: "node:20" # @${DIGEST}`],
  ])("is refused as an image by its tag: %s", (text) => {
    expect(job(text)).toEqual([
      expect.stringMatching(/^\d+: \S.* needs a digest: NAME@sha256:DIGEST$/),
    ]);
  });

  it.each([
    ["uses: a/b@v4"],
    ["uses: a/b"],
    [`uses: a/b@${SHA}`],
    [`uses: a/b@${SHA} # v4`],
    [`uses: "a/b@v4" # @${SHA} # v4.0.0`],
    [`{ name: "# v1.2.3", uses: a/b@${SHA} }`],
    ["name: x\n    uses: a/b@main"],
    ["uses: docker://node:20"],
  ])("is refused as an action by its tag: %s", (text) => {
    expect(steps(text)).toEqual([expect.stringMatching(/ needs a (commit|digest): /)]);
  });

  it("is refused as a workflow by its tag", () => {
    expect(job("uses: a/b/.github/workflows/c.yml@v1")).toEqual([
      "3: a/b/.github/workflows/c.yml@v1 needs a commit: OWNER/NAME@SHA # vX.Y.Z",
    ]);
  });

  it.each([
    [""],
    ["\n    with: { fetch-depth: 0 }"],
    ["\n    with: { persist-credentials: true }"],
    ['\n    with: { persist-credentials: "no" }'],
    ["\n    env: { persist-credentials: false }"],
    ["\n    name: 'persist-credentials: false'"],
  ])("is refused as a checkout that keeps credentials: %s", (more) => {
    expect(steps(`uses: actions/checkout@${SHA} # v1.2.3${more}`)).toEqual([
      `4: actions/checkout@${SHA} needs persist-credentials: false`,
    ]);
  });

  it("is refused behind an alias", () => {
    expect(unpinned("x: &a b\njobs: { c: { container: *a } }")).toEqual([
      "2: *a is not checked: write it out",
    ]);
  });

  it("is accepted with a commit, a digest, and no credentials", () => {
    const pinned = `uses: a/b@${SHA} # v1.2.3`;
    expect(
      steps(`uses: Actions/Checkout@${SHA} # v1.2.3\n    with: { persist-credentials: false }`),
    ).toEqual([]);
    expect(steps(`${pinned}\n  - uses: docker://node@${DIGEST}\n  - uses: ./here`)).toEqual([]);
    expect(
      job(`container: node:20@${DIGEST}\nservices: { db: { image: a/b:1@${DIGEST} } }`),
    ).toEqual([]);
  });
});

describe("dependabot", () => {
  const { updates } = parse(read(".github/dependabot.yml"));

  it("looks where the manifests are", () => {
    const manifests: Record<string, string> = {
      npm: "pnpm-workspace.yaml",
      "github-actions": ".github/workflows/ci.yml",
    };
    const missing = updates
      .map((update: Record<string, string>) =>
        join(update["directory"] ?? "", manifests[update["package-ecosystem"] ?? ""] ?? "unknown"),
      )
      .filter((path: string) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  it("leaves out packages that we have", () => {
    const { dependencies, devDependencies } = JSON.parse(read("tools/package.json"));
    const have = Object.keys({ ...dependencies, ...devDependencies });
    const names = updates.flatMap(({ ignore = [] }) =>
      ignore.map((rule: Record<string, string>) => rule["dependency-name"]),
    );
    const isUsed = (name: string) => have.some((one) => one.startsWith(name.replace("*", "")));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name: string) => !isUsed(name))).toEqual([]);
  });
});

describe("an issue form", () => {
  const forms = readdirSync(`${root}.github/ISSUE_TEMPLATE`).filter(
    (file) => file !== "config.yml",
  );

  it.each(forms)("has what the service needs: %s", (file) => {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${file}`));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const fields = form.body.filter(({ type }: { type: string }) => type !== "markdown");
    const ids = fields.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(fields.length);
    for (const { type, attributes } of fields) {
      expect(["dropdown", "input", "textarea", "checkboxes"]).toContain(type);
      expect(attributes.label).toEqual(expect.any(String));
    }
  });
});

describe("the bug form", () => {
  it("offers every public package", () => {
    const { body } = parse(read(".github/ISSUE_TEMPLATE/bug.yml"));
    const field = body.find(({ id }: { id?: string }) => id === "package");
    const names = publicPackages().map(({ manifest }) => manifest.name);
    expect([...field.attributes.options].sort()).toEqual(names.sort());
  });
});

describe("SECURITY.md", () => {
  it("has every public package in scope", () => {
    const text = read("SECURITY.md");
    for (const { manifest } of publicPackages()) expect(text).toContain(`\`${manifest.name}\``);
  });
});
