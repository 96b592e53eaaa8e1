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

  let modules = 0;
  it.each([
    ["throws", ['throw new Error("no\\ndatabase");'], "NAME cannot be imported: no"],
    [
      "exports no resource",
      ["export const a = 1, b = null;"],
      "NAME exports no resource with a CRD",
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
