// The files and names that ARCHITECTURE.md and CONTRIBUTING.md send a reader to exist.
import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { expect, it } from "vitest";
import layers from "../layers.cjs";

const root = resolve(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(resolve(root, name), "utf8");
const FENCED = /^```[\s\S]*?^```/gm;
const spans = (text: string): string[] =>
  [...text.replaceAll(FENCED, "").matchAll(/`([^`]+)`/g)].map(([, it]) => `${it}`);

const PATH = /^(?:packages|tools|test|conformance|bench|services|runtimes|docs)\/[\w./-]*$/;

it.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("%s names only files that exist", (page) => {
  const generated = ["docs/api/"];
  const paths = spans(read(page)).filter((it) => PATH.test(it) && !generated.includes(it));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(resolve(root, path)))).toEqual([]);
});

it("the flows name only what their files contain", () => {
  const steps = read("ARCHITECTURE.md").match(/^\| \d\. .*$/gm) ?? [];
  expect(steps.length).toBeGreaterThan(15);
  const missing = steps.flatMap((step) => {
    const [, files = "", names = ""] = step.split(" | ");
    const source = spans(files).map(read).join("\n");
    return spans(names).filter((name) => !source.includes(name));
  });
  expect(missing).toEqual([]);
});

it("the picture shows every folder that tools/layers.cjs lists", () => {
  const [picture = ""] = read("ARCHITECTURE.md").match(/^```text\n[\s\S]*?^```/m) ?? [];
  const parts = picture.split(/\n(?=\w)/);
  const missing = Object.entries(layers).flatMap(([workspace, folders]) => {
    const [, name] = /^packages\/([\w-]+)\/src$/.exec(workspace) ?? [];
    if (name === undefined || name === "examples") return [];
    const part = parts.find((one) => one.startsWith(name)) ?? "";
    const shown = part.split(/[^\w-]+/);
    return Object.keys(folders)
      .filter((folder) => /^[\w/-]+$/.test(folder))
      .filter((folder) => !shown.includes(basename(folder)))
      .map((folder) => [name, folder].join("/"));
  });
  expect(missing).toEqual([]);
});
