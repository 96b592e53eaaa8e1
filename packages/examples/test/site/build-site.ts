import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

/** The site, as `npm run docs` builds it, in a directory of its own. */
export interface Site extends Disposable {
  /** @param path - of a page, with its fragment */
  url(path: string): string;
  readonly folder: string;
}

/** Builds the site. Rejects with what TypeDoc printed if it warns or fails. */
export async function buildSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-site-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const typedoc = join(ROOT, "node_modules/typedoc/bin/typedoc");
  const building = spawn(process.execPath, [typedoc, "--out", folder], { cwd: ROOT });
  const printed: Buffer[] = [];
  for (const stream of [building.stdout, building.stderr])
    stream.on("data", (part: Buffer) => printed.push(part));
  const [code] = await once(building, "close");
  if (code !== 0) {
    remove();
    throw new Error(`TypeDoc failed:\n${Buffer.concat(printed)}`);
  }
  return {
    folder,
    url: (path) => `${pathToFileURL(folder)}/${path}`,
    [Symbol.dispose]: remove,
  };
}
