// Bundles the playground with the real packages into one classic script: a page that is opened from a file
// may load neither modules nor workers from other files, so the worker is text inside the script.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const page = fileURLToPath(
  new URL("../../packages/examples/src/playground/page/", import.meta.url),
);

/** @type {import("esbuild").BuildOptions} */
const settings = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
};

/** @param {string} folder of the site */
export async function buildPlayground(folder) {
  const worker = await build({ ...settings, entryPoints: [join(page, "worker.ts")], write: false });
  await build({
    ...settings,
    entryPoints: [join(page, "page.ts")],
    define: { WORKER_SOURCE: JSON.stringify(worker.outputFiles[0]?.text) },
    outfile: join(folder, "assets", "playground.js"),
  });
}
