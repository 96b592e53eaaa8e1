// One package in a project of its own, without optional peers: each entry point loads, or misses a peer.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { entriesOf } from "../packages.mjs";
import { runNode } from "./run-node.mjs";

const PROGRAM = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const [entries, peers, ways] = JSON.parse(process.argv[2]);
const loaders = { import: (name) => import(name), require: (name) => require(name) };
const missing = [];
for (const entry of entries)
  for (const way of ways)
    try {
      await loaders[way](entry);
    } catch (error) {
      const peer = peers.find((name) => new RegExp(\`["' ]\${name}["' ,.]\`).test(error.message));
      if (peer === undefined) throw error;
      missing.push(\`\${entry} wants \${peer}\`);
    }
console.log([...new Set(missing)].join(", ") || "all");
`;

/**
 * @param {string} folder
 * @param {any} manifest
 * @param {string[]} [plugAndPlay] - arguments of Node for yarn's loader, which does not serve `require` of an ES module
 * @returns {Promise<string>} what was loaded
 */
export async function loadAlone(folder, manifest, plugAndPlay) {
  const { peerDependencies = {} } = manifest;
  const entries = entriesOf(manifest).map(({ name }) => name);
  writeFileSync(join(folder, "alone.mjs"), PROGRAM);
  const ways = plugAndPlay === undefined ? ["import", "require"] : ["import"];
  const question = JSON.stringify([entries, Object.keys(peerDependencies), ways]);
  const args = [...(plugAndPlay ?? []), "alone.mjs", question];
  const { code, lines, errors } = await runNode(folder, args);
  if (code !== 0) throw new Error(errors.join("\n"));
  return lines[0] === "all" ? `${entries.length} entry points load` : `loads; ${lines[0]}`;
}
