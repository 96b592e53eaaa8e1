import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { bin, run } from "../../../../tools/packages.mjs";
import { runBin, startBin } from "./run-bin.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "types-"));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => {
  mkdirSync(join(folder, "node_modules/@holdfast"), { recursive: true });
  symlinkSync(join(here, "../.."), join(folder, "node_modules/@holdfast/kubernetes"), "dir");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});

/** The start of a list of arguments that only takes what a strict compiler accepts. */
const TSC =
  "--noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext".split(" ");

/** What a strict compiler says of files, a line for each problem. */
function problemsOf(files: Readonly<Record<string, string>>): string[] {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const args = [...TSC, "--types", "", ...Object.keys(files)];
  const { stdout } = spawnSync(bin("tsc"), args, { cwd: folder, encoding: "utf8" });
  return stdout.split("\n").filter((line) => /^\S/.test(line));
}

describe("types of the hardest CRDs", () => {
  const running = runBin(["types", join(here, "hard-crds.yaml")], folder);

  it("are those of another version that --version names", async () => {
    const [first = ""] = readFileSync(join(here, "hard-crds.yaml"), "utf8").split("\n---\n");
    writeFileSync(join(folder, "issuer.yaml"), first);
    const old = await runBin(["types", "issuer.yaml", "--version", "v1alpha1"], folder);
    expect(old.stdout).toContain('apiVersion: "hard.example.org/v1alpha1"');
    const { stderr } = await runBin(["types", "issuer.yaml", "--version", "v2"], folder);
    expect(stderr).toBe(
      'error: version must be one that the crd serves (v1alpha1, v1), got "v2"\n',
    );
  });

  const USING = 'import type { IssuerObject, RouteObject } from "./hard.js";';

  const ACCEPTED = `${USING}
export const issuer: IssuerObject = {
  metadata: { name: "a" },
  spec: {
    privateKey: { algorithm: "RSA" },
    acme: { config: [1], podTemplate: { kind: 'Pod', other: 1 } },
    ca: {},
  },
};
issuer.spec.acme = null; issuer.status = { conditions: [{ type: "Ready", status: "True" }] };
export const route: RouteObject = { spec: {
  hostnames: ["a", "b", "c"], rules: [{}, { matches: [{ value: 1.5 }] }],
  limits: { cpu: 1, memory: "1Gi" }, targetPorts: [80, "http"], selectors: { a: ["b"] },
  $ref: "a", "basic-auth": true, title: "a", definitions: { enum: true, type: "a" },
  empty: { a: 1 }, anything: [1, {}],
} };
import { Issuer, Route } from "./hard.js";
export const scopes = [Issuer.scope, Route.scope];
`;

  /** What a spec has that the server refuses, and the code of the compiler's problem. */
  const REFUSED = [
    ["a value that is not in the enum", '{ privateKey: { algorithm: "rsa" } }', "TS2820"],
    ["a required field that is missing", "{ privateKey: {} }", "TS2741"],
    ["an unknown field", '{ privateKey: { algorithm: "" }, key: 1 }', "TS2353"],
    [
      "null for a field that is not nullable",
      '{ privateKey: { algorithm: "" }, ca: null }',
      "TS2322",
    ],
  ] as const;

  // One run of the compiler: each takes seconds.
  it("are those of every CRD in a file, compile under strict, and accept what the server accepts", async () => {
    const { code, stdout, stderr } = await running;
    expect([code, stderr]).toEqual([0, ""]);
    const refused = REFUSED.map(([what, spec], index) => [
      `refused-${index}.ts`,
      `// ${what}\n${USING}\nexport const issuer: IssuerObject = { spec: ${spec} };\nexport type R = RouteObject;\n`,
    ]);
    const files = { "hard.ts": stdout, "accepted.ts": ACCEPTED, ...Object.fromEntries(refused) };
    const problems = problemsOf(files).map((line) => line.replace(/\(.*error (TS\d+):.*/, " $1"));
    expect(problems).toEqual(
      REFUSED.map(([, , problem], index) => `refused-${index}.ts ${problem}`),
    );
  });
});

describe("types", () => {
  it.each([
    ["kind: Pod\n", "it.yaml has no CustomResourceDefinition"],
    ["", "it.yaml has no CustomResourceDefinition"],
    [
      "a: [",
      "it.yaml: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 5",
    ],
    [
      "kind: CustomResourceDefinition\n",
      'crd must be a CustomResourceDefinition of apiextensions.k8s.io/v1, got kind "CustomResourceDefinition" of undefined',
    ],
  ])("refuses the file %j with one line and exit code 2", async (text, problem) => {
    writeFileSync(join(folder, "it.yaml"), text);
    const { code, stderr } = await runBin(["types", "it.yaml"], folder);
    expect([code, stderr]).toEqual([2, `error: ${problem}\n`]);
  });

  it("refuses two CRDs of one kind", async () => {
    const file = join(here, "hard-crds.yaml");
    const { stderr } = await runBin(["types", file, file], folder);
    expect(stderr).toBe("error: two CRDs have the kind Issuer: write their types to two files\n");
  });

  it.each(["yaml", "json-schema-to-typescript"])(
    "says how to install %s where it is missing",
    async (name) => {
      writeFileSync(
        join(folder, "hook.mjs"),
        [
          "export const resolve = (specifier, context, next) => {",
          `  if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);`,
          '  throw Object.assign(new Error("missing"), { code: "ERR_MODULE_NOT_FOUND" });',
          "};",
        ].join("\n"),
      );
      writeFileSync(
        join(folder, "without.mjs"),
        'import { register } from "node:module";\nregister("./hook.mjs", import.meta.url);\n',
      );
      // Node 26 warns of register(); Node 20 has nothing else.
      const without = { NODE_OPTIONS: `--no-deprecation --import ${join(folder, "without.mjs")}` };
      expect(await startBin(["types", join(here, "hard-crds.yaml")], folder, without)).toEqual({
        code: 2,
        stdout: "",
        stderr: `error: this command needs the package ${name}: npm install --save-dev ${name}\n`,
      });
    },
  );

  it("asks kubectl, with its login, for the CRDs that --from-cluster names", async () => {
    const text = readFileSync(join(here, "hard-crds.yaml"), "utf8");
    const manifests = parseAllDocuments(text).flatMap((one) => {
      const manifest = one.toJS() as { items?: object[] };
      return manifest.items ?? [manifest];
    });
    const path = join(folder, "bin");
    mkdirSync(path);
    const list = JSON.stringify({ kind: "List", apiVersion: "v1", items: manifests });
    const script = [
      "#!/bin/sh",
      `echo "$@" >> ${join(path, "calls")}`,
      'case "$*" in',
      "*as.b.c) echo 'Error from server (NotFound): no \"as.b.c\"' >&2; exit 1;;",
      `*) cat <<'END'\n${list}\nEND`,
      "esac",
    ];
    writeFileSync(join(path, "kubectl"), script.join("\n"), { mode: 0o755 });
    const env = { PATH: `${path}${delimiter}${process.env["PATH"]}` };

    const names = ["issuers.hard.example.org", "routes.hard.example.org"];
    const found = await startBin(["types", "--from-cluster", ...names], folder, env);
    expect([found.code, found.stderr]).toEqual([0, ""]);
    expect(found.stdout).toContain("export const Issuer = customResource<IssuerObject>({");
    expect(found.stdout).toContain("export const Route = customResource<RouteObject>({");
    const get = "get customresourcedefinitions.v1.apiextensions.k8s.io -o json --";
    expect(readFileSync(join(path, "calls"), "utf8")).toBe(`${get} ${names.join(" ")}\n`);
    const missing = await startBin(["types", "--from-cluster", "as.b.c"], folder, env);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      `error: "kubectl ${get} as.b.c" failed: Error from server (NotFound): no "as.b.c"\n`,
    ]);
  });
});

const ODD_KINDS =
  "K8sThing OAuth2client postgresql foo-bar a1b2c3 X x Kube Object Array String Record Promise delete class new default import A1b HTTP2route v1 S3bucket EC2instance x-y-z Ab-1c Type Generated await yield enum interface void null true Infinity NaN undefined symbol unknown never any CustomResource customResource K8S k8s iOSApp eBPFMap IPAddress2pool Db2 db2a Z9z Async static let of get".split(
    " ",
  );

function oddCrd(
  kind: string,
  index: number,
  spec: object = { type: "object", properties: { a: { type: "string" } } },
) {
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: {
      group: "odd.example.org",
      scope: "Namespaced",
      names: { kind, plural: `odd${index}s` },
      versions: [
        { name: "v1api20231001", served: true, storage: true, schema: { openAPIV3Schema } },
      ],
    },
  };
}

it("writes types of kinds with odd names that compile, each an object of Kubernetes", async () => {
  expect(ODD_KINDS.length).toBeGreaterThanOrEqual(50);
  const files: string[] = [];
  for (const [index, kind] of ODD_KINDS.entries()) {
    writeFileSync(join(folder, "odd.json"), JSON.stringify(oddCrd(kind, index)));
    const { code, stdout } = await runBin(["types", "odd.json"], folder);
    expect([kind, code, stdout.includes(" extends KubeObject {")]).toEqual([kind, 0, true]);
    writeFileSync(join(folder, `odd${index}.ts`), stdout);
    files.push(`odd${index}.ts`);
  }
  expect(run(bin("tsc"), [...TSC, "--types", "", ...files], folder)).toBe("");
  const oldest = createRequire(import.meta.url).resolve("typescript-5.4/bin/tsc");
  const noTypes = ["--typeRoots", "none"]; // 5.4 takes no empty list of types
  expect(run(process.execPath, [oldest, ...TSC, ...noTypes, ...files], folder)).toBe("");
});

it("reads no file and no address that a CRD names", async () => {
  writeFileSync(join(folder, "secret.json"), '{"enum": ["hunter2"]}');
  const reference = { $ref: join(folder, "secret.json") };
  const spec = {
    type: "object",
    description: reference,
    properties: {
      a: { enum: [reference] },
      b: { type: "string", description: reference },
      c: { type: "array", items: { enum: [[reference], { $ref: "http://127.0.0.1:9/x" }] } },
      d: { type: "object", additionalProperties: { enum: ["x", { a: 1 }] } },
    },
  };
  writeFileSync(join(folder, "reference.json"), JSON.stringify(oddCrd("Thief", 0, spec)));
  const { code, stdout, stderr } = await runBin(["types", "reference.json"], folder);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain("hunter2");
  expect(stdout).toMatch(/a\?: unknown;/);
  expect(stdout).toMatch(/c\?: unknown\[\];/);
});
