import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { buildProject } from "../../../test/build-project.ts";
import { createProject } from "../src/create-project.ts";
import { resolveNames } from "../src/names.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const main = join(root, "packages/create-operator/dist/main.js");
const folder = mkdtempSync(join(tmpdir(), "create-operator-"));
afterAll(() => rmSync(folder, { recursive: true }));

function create(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

const read = (...path: string[]) => readFileSync(join(folder, ...path), "utf8");

const filesIn = (project: string) =>
  readdirSync(join(folder, project), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(folder.length + 1), entry.name));

describe("npm create @holdfast/operator", () => {
  it("makes a project, and says what to do next", () => {
    expect(create("backup-operator", "--group", "acme.io")).toEqual({
      code: 0,
      stdout:
        "Made backup-operator: kind Backup of acme.io.\n\n  cd backup-operator\n  npm install\n  npm test\n",
      stderr: "",
    });
  });

  it("puts the names into files and their names, and leaves no mark", () => {
    create("x", "--kind", "DataPolicy", "--group", "data.example.com");
    const files = filesIn("x");
    expect(files).toContain(join("x", "deploy", "datapolicies.data.example.com.yaml"));
    expect(files).toEqual(
      expect.arrayContaining([join("x", ".gitignore"), join("x", ".dockerignore")]),
    );
    expect(files.filter((file) => /__[A-Z]+__/.test(file + read(file)))).toEqual([]);
    expect(parse(read("x", "deploy/datapolicies.data.example.com.yaml")).spec.names).toEqual({
      kind: "DataPolicy",
      listKind: "DataPolicyList",
      plural: "datapolicies",
      singular: "datapolicy",
    });
    const { version } = JSON.parse(
      readFileSync(join(root, "packages/kubernetes/package.json"), "utf8"),
    );
    expect(JSON.parse(read("x", "package.json")).dependencies["@holdfast/kubernetes"]).toBe(
      `~${version}`,
    );
  });

  it.each([
    ["cron-task-operator", "CronTask of example.org"],
    ["operator", "Operator of example.org"],
  ])("takes the kind from the name %s", (name, made) => {
    expect(create(name).stdout.split("\n")[0]).toBe(`Made ${name}: kind ${made}.`);
  });

  it("leaves a folder alone that is not empty", () => {
    mkdirSync(join(folder, "mine"));
    writeFileSync(join(folder, "mine", "package.json"), "mine");
    expect(create("mine")).toEqual({
      code: 2,
      stdout: "",
      stderr: "error: the folder mine is not empty\n",
    });
    expect([filesIn("mine"), read("mine", "package.json")]).toEqual([
      [join("mine", "package.json")],
      "mine",
    ]);
  });

  it("makes a project that compiles, whatever the kind is called", async () => {
    const projects = join(folder, "kinds");
    const template = join(root, "packages/create-operator/template/src");
    const code = readdirSync(template).map((file) => readFileSync(join(template, file), "utf8"));
    const words = [...(code.join().match(/\w+/g) ?? []), ...Object.getOwnPropertyNames(globalThis)];
    const kinds = [...new Set(words)].filter((word) => /^[A-Z][A-Za-z0-9]{0,50}$/.test(word));
    expect(kinds).toEqual(expect.arrayContaining(["Registry", "Promise", "ObjectOf", "FakeClock"]));
    for (const kind of kinds.filter((one) => !["ConfigMap", "Lease", "True"].includes(one))) {
      const names = resolveNames(`made-${kind.toLowerCase()}`, { kind });
      await createProject(join(projects, kind), { ...names, version: "0.0.0" });
    }
    const { compilerOptions } = JSON.parse(read("kinds", "Registry", "tsconfig.json"));
    const all = { compilerOptions: { ...compilerOptions, rootDir: "." }, include: ["*/src"] };
    writeFileSync(join(projects, "tsconfig.json"), JSON.stringify(all));
    buildProject(projects);
    expect(read("kinds", "Registry", "src", "resource.ts")).toMatch(/const RegistryResource =/);
    create("ours", "--kind", "Backup");
    expect(read("ours", "src", "resource.ts")).toMatch(/const Backup =/);
  });

  it("gets webhooks as its README says", () => {
    create("hooked-operator");
    const project = join(folder, "hooked-operator");
    const [, example = ""] = /```js\n(.*?)```/s.exec(read("hooked-operator", "README.md")) ?? [];
    const resource = read("hooked-operator", "src", "resource.ts");
    const imported = resource.replace("customResource }", "customResource, validating }");
    writeFileSync(join(project, "src", "resource.ts"), `${imported}\n${example}`);
    buildProject(project);
    const { scripts } = JSON.parse(read("hooked-operator", "package.json"));
    const [, args = ""] = scripts.manifests.split("holdfast-kubernetes ");
    const command = [join(root, "packages/kubernetes/dist/bin/main.js"), ...args.split(" ")];
    const { status, stdout } = spawnSync(process.execPath, command, {
      cwd: project,
      encoding: "utf8",
    });
    const written = stdout
      .trim()
      .split("\n")
      .map((path) => basename(path));
    const listed = read("hooked-operator", "deploy", "kustomization.yaml").matchAll(
      /- (.*\.yaml)/g,
    );
    const all = [...listed].map(([, name]) => name);
    expect(status).toBe(0);
    expect(all).toEqual(expect.arrayContaining([...written, "webhook-bindings.yaml"]));
    // Everything that is listed is there: the files of the template, and those of webhooks.
    expect(readdirSync(join(project, "deploy"))).toEqual(expect.arrayContaining(all));
    const objects = (name: string) =>
      parseAllDocuments(read("hooked-operator", "deploy", name)).map((one) => one.toJS());
    const roles = written.flatMap(objects).filter(({ kind }) => kind.endsWith("Role"));
    const bound = objects("webhook-bindings.yaml").map(({ roleRef }) => roleRef.name);
    expect(bound).toEqual(roles.map(({ metadata }) => metadata.name));
    const own = objects("role.yaml").map(({ metadata }) => metadata.name);
    expect(own.filter((name) => bound.includes(name))).toEqual([]);
    const [{ spec: service }] = objects("webhook-service.yaml") as [{ spec: { selector: object } }];
    const pods = objects("operator.yaml").find(({ kind }) => kind === "Deployment").spec.template;
    expect(pods.metadata.labels).toMatchObject(service.selector);
  });

  it.each([
    [[], "give one NAME, as in npm create @holdfast/operator backup-operator, got 0"],
    [["a", "b"], "give one NAME, as in npm create @holdfast/operator backup-operator, got 2"],
    [["../a"], 'NAME must be a name such as backup-operator, got "../a"'],
    [["zod"], 'NAME must not be that of a package of the project, got "zod"'],
    [["null"], 'NAME must be a name such as backup-operator, got "null"'],
    [
      ["yes-operator"],
      'NAME must be a name that makes a kind such as Backup, or have a --kind beside it, got "yes-operator"',
    ],
    [
      ["b".repeat(53)],
      `NAME must be a name that makes a kind such as Backup, or have a --kind beside it, got "${"b".repeat(53)}"`,
    ],
    [["bad", "--kind", "backup"], '--kind must be a kind such as Backup, got "backup"'],
    [["bad", "--kind", "No"], '--kind must be a kind such as Backup, got "No"'],
    [["bad", "--kind", "Lease"], '--kind must be none of ConfigMap, Lease, got "Lease"'],
    [["bad", "--group", "example"], '--group must be a group such as example.org, got "example"'],
    [["bad", "--group", "1.e2"], '--group must be a group such as example.org, got "1.e2"'],
    [["bad", "--group", "A.b/c"], '--group must be a group such as example.org, got "A.b/c"'],
    [["bad", "--color"], "Unknown option '--color'"],
  ])("refuses %j with one line and exit code 2, and makes nothing", (args, problem) => {
    expect(create(...args)).toEqual({ code: 2, stdout: "", stderr: `error: ${problem}\n` });
    expect(readdirSync(folder)).not.toContain("bad");
  });

  it.each([
    ["kind", ["bad"], "Backup"],
    ["group", ["bad", "acme.io"], "true"],
  ])("refuses --%s that npm has taken, and shows where it goes", (option, args, value) => {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, [`npm_config_${option}`]: value },
    });
    expect([status, stderr]).toEqual([
      2,
      `error: npm took --${option} for its own: write npm create @holdfast/operator backup-operator -- --${option} VALUE\n`,
    ]);
    expect(readdirSync(folder)).not.toContain("bad");
  });

  it("prints its usage for --help", () => {
    expect(create("--help").stdout).toMatch(/^npm create @holdfast\/operator NAME/);
  });
});
