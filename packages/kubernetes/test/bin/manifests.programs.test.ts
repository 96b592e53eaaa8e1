import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runBin, startBin } from "./run-bin.ts";

const folder = mkdtempSync(join(tmpdir(), "manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

const crd = (plural: string, schema: object = { type: "object" }) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.example.org` },
  spec: {
    group: "example.org",
    scope: "Namespaced",
    names: { kind: "Widget", plural },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});

function module(name: string, lines: readonly string[]): string {
  writeFileSync(join(folder, name), lines.join("\n"));
  return name;
}

const exporting = (name: string, manifest: object) =>
  module(name, [`export const Widget = { crd: ${JSON.stringify(manifest)} };`]);

describe("manifests", () => {
  it("writes the CRDs that a module exports, which --check then accepts", async () => {
    const strings = {
      type: "object",
      properties: { a: { enum: ["on", "1", "null", "", "a: b"] } },
    };
    const name = exporting("good.mjs", crd("widgets", strings));
    const path = join("good", "widgets.example.org.yaml");
    expect(await runBin(["manifests", name, "--out", "good"], folder)).toEqual({
      code: 0,
      stdout: `${path}\n`,
      stderr: "",
    });
    expect(parse(readFileSync(join(folder, path), "utf8"))).toEqual(crd("widgets", strings));
    expect(await runBin(["manifests", name, "--out", "good", "--check"], folder)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("names the file that is missing or differs with --check, and writes nothing", async () => {
    const name = exporting("changed.mjs", crd("widgets"));
    const path = join("changed", "widgets.example.org.yaml");
    const check = async () => {
      const { code, stdout } = await runBin(
        ["manifests", name, "--out", "changed", "--check"],
        folder,
      );
      return [code, stdout];
    };
    expect(await check()).toEqual([1, `${path} is missing\n`]);
    await runBin(["manifests", name, "--out", "changed"], folder);
    writeFileSync(join(folder, path), "kind: Other\n");
    expect(await check()).toEqual([1, `${path} differs from its resource\n`]);
    expect(readFileSync(join(folder, path), "utf8")).toBe("kind: Other\n");
  });

  it("takes a resource that two modules export once", async () => {
    const names = ["one.mjs", "two.mjs"].map((name) => exporting(name, crd("widgets")));
    const { code, stdout } = await runBin(["manifests", ...names, "--out", "once"], folder);
    expect([code, stdout.split("\n").length]).toEqual([0, 2]);
  });

  it("ends although the module keeps the process busy", async () => {
    const name = module("busy.mjs", [
      "setInterval(() => {}, 1_000);",
      `export const Widget = { crd: ${JSON.stringify(crd("widgets"))} };`,
    ]);
    const { code } = await startBin(["manifests", name, "--out", "busy"], folder);
    expect(code).toBe(0);
  });

  const webhooks = () =>
    module("hooks.mjs", [
      `import { builtIn, customResource, mutating, validating } from ${JSON.stringify(import.meta.resolve("@holdfast/kubernetes").replace("/src/index.ts", "/dist/index.js"))};`,
      `const Widget = customResource({ apiVersion: "example.org/v1", kind: "Widget", plural: "widgets", spec: { type: "object" } });`,
      `export const check = validating(Widget, { handle() {} });`,
      `export const fill = mutating(builtIn("v1", "ConfigMap"), { failurePolicy: "Ignore", handle() {} });`,
      `export const resource = { crd: ${JSON.stringify({
        ...crd("gadgets"),
        spec: {
          ...crd("gadgets").spec,
          conversion: {
            strategy: "Webhook",
            webhook: {
              conversionReviewVersions: ["v1"],
              clientConfig: { service: { name: "a", namespace: "b", path: "/convert" } },
            },
          },
        },
      })} };`,
    ]);

  it("writes what webhooks need, without a caBundle", async () => {
    const place = ["--service", "hooks", "--namespace", "cron"];
    const args = ["manifests", webhooks(), "--out", "hooks", ...place];
    const { code, stdout, stderr } = await runBin(args, folder);
    expect([code, stderr]).toEqual([0, ""]);
    const files = stdout.trim().split("\n");
    const read = (name: string): unknown =>
      parse(readFileSync(join(folder, "hooks", name), "utf8"));
    expect(files.map((path) => path.replace(/.*[\\/]/, ""))).toEqual([
      "gadgets.example.org.yaml",
      "validating-webhooks.yaml",
      "mutating-webhooks.yaml",
      "webhook-service.yaml",
      "webhook-role.yaml",
      "webhook-cluster-role.yaml",
    ]);
    expect(read("validating-webhooks.yaml")).toMatchObject({
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "hooks.cron" },
      webhooks: [
        {
          name: "validate.widgets.example.org",
          admissionReviewVersions: ["v1"],
          clientConfig: {
            service: {
              name: "hooks",
              namespace: "cron",
              path: "/validate.widgets.example.org",
              port: 443,
            },
          },
          sideEffects: "None",
          failurePolicy: "Fail",
        },
      ],
    });
    expect(read("mutating-webhooks.yaml")).toMatchObject({
      webhooks: [
        {
          namespaceSelector: {
            matchExpressions: [
              {
                key: "kubernetes.io/metadata.name",
                operator: "NotIn",
                values: ["kube-system", "cron"],
              },
            ],
          },
        },
      ],
    });
    expect(read("gadgets.example.org.yaml")).toMatchObject({
      spec: {
        conversion: {
          webhook: {
            clientConfig: { service: { name: "hooks", namespace: "cron", path: "/convert" } },
          },
        },
      },
    });
    expect(read("webhook-role.yaml")).toMatchObject({
      kind: "Role",
      metadata: { name: "hooks-certificates", namespace: "cron" },
      rules: [
        { resourceNames: ["hooks-certificates"], verbs: ["get", "list", "watch", "update"] },
        { verbs: ["create"] },
      ],
    });
    expect(read("webhook-cluster-role.yaml")).toMatchObject({
      rules: [
        {
          resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
          resourceNames: ["hooks.cron"],
          verbs: ["get", "list", "watch", "patch"],
        },
        { resources: ["customresourcedefinitions"], resourceNames: ["gadgets.example.org"] },
      ],
    });
    expect(files.map((path) => readFileSync(join(folder, path), "utf8")).join()).not.toContain(
      "caBundle",
    );
    expect(await runBin([...args, "--check"], folder)).toMatchObject({ code: 0, stdout: "" });
  });

  it("lets cert-manager write the authorities with --certificate, and needs no right to", async () => {
    const place = ["--service", "hooks", "--namespace", "cron", "--certificate", "cron-tls"];
    const { stdout } = await runBin(["manifests", webhooks(), "--out", "cert", ...place], folder);
    expect(stdout).not.toContain("cluster-role");
    for (const name of ["validating-webhooks", "mutating-webhooks", "gadgets.example.org"])
      expect(parse(readFileSync(join(folder, "cert", `${name}.yaml`), "utf8"))).toMatchObject({
        metadata: { annotations: { "cert-manager.io/inject-ca-from": "cron/cron-tls" } },
      });
  });

  it.each([
    [[], "--service is missing: the modules export webhooks; see --help"],
    [["--service", "a"], "--namespace is missing; see --help"],
    [["--namespace", "a"], "--service is missing; see --help"],
    [["--service", "A", "--namespace", "a"], "--service must be a name of a Service"],
    [["--service", "a", "--namespace", "A"], "--namespace must be a namespace"],
  ])("refuses webhooks with %j", async (place, problem) => {
    const { code, stderr } = await runBin(
      ["manifests", webhooks(), "--out", "no", ...place],
      folder,
    );
    expect([code, stderr.startsWith(`error: ${problem}`)]).toEqual([2, true]);
  });

  let modules = 0;
  it.each([
    ["throws", ['throw new Error("no\\ndatabase");'], "NAME cannot be imported: no"],
    [
      "exports no resource",
      ["export const a = 1, b = null;"],
      "NAME exports no resource with a CRD, and no webhook",
    ],
    [
      "exports two CRDs of one name",
      [
        `export const a = { crd: ${JSON.stringify(crd("widgets"))} };`,
        `export const b = { crd: ${JSON.stringify(crd("widgets", {}))} };`,
      ],
      "NAME exports a second CRD widgets.example.org that differs",
    ],
    [
      "has a CRD whose name is a path",
      [`export const a = { crd: ${JSON.stringify(crd("../widgets"))} };`],
      'plural must be a plural in lower case such as "configmaps", got "../widgets"',
    ],
  ])("refuses a module that %s with one line and exit code 2", async (_, lines, problem) => {
    // A name of its own: a process imports a module once.
    const name = module(`it${++modules}.mjs`, lines);
    expect(await runBin(["manifests", name, "--out", "it"], folder)).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: ${problem.replace("NAME", name)}\n`,
    });
  });
});
