import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, it } from "vitest";
import { type Claim, expectPrinted } from "./expect-printed.ts";
import type {} from "./seed.ts";

/** An example of the documentation, as tools/doctests.mjs collects it. */
export interface DocExample {
  readonly name: string;
  /** Changes with the text. */
  readonly hash: string;
  readonly claims: readonly Claim[];
  readonly run: () => Promise<unknown>;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/doctests");

/** The hash of all that an example may load: the sources, the dependencies, and this Node. */
export function hashOfSources(root: string): string {
  const hash = createHash("sha256").update(`${process.version} ${process.env["TEST_DIST"]}`);
  const folders = readdirSync(join(root, "packages")).map((name) =>
    join(root, "packages", name, "src"),
  );
  for (const folder of folders.filter((path) => existsSync(path)))
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) hash.update(readFileSync(join(entry.parentPath, entry.name)));
  return hash.update(readFileSync(join(root, "pnpm-lock.yaml"))).digest("hex");
}

/** Makes a test of each example. One that has passed with the same text and the same sources is skipped. */
export function testExamples(examples: readonly DocExample[]): void {
  const file = join(CACHE, hashOfSources(ROOT));
  const passed = new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n") : []);
  mkdirSync(dirname(file), { recursive: true });
  for (const { name, hash, claims, run } of examples)
    it.skipIf(passed.has(hash) && !inject("isAll"))(name, async () => {
      await expectPrinted(run, claims);
      appendFileSync(file, `${hash}\n`);
    });
}
