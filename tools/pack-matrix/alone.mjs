// One package in a project of its own, without optional peers: each entry point loads, or misses a peer.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./run-node.mjs";

const PROGRAM = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const [entries, peers] = JSON.parse(process.argv[2]);
const missing = [];
for (const entry of entries)
  for (const load of [(name) => import(name), (name) => require(name)])
    try {
      await load(entry);
    } catch (error) {
      const peer = peers.find((name) => error.message.includes(\`'\${name}'\`));
      if (peer === undefined) throw error;
      missing.push(\`\${entry} wants \${peer}\`);
    }
console.log([...new Set(missing)].join(", ") || "all");
`;

/**
 * @param {string} folder
 * @param {any} manifest
 * @returns {Promise<string>} what was loaded
 */
export async function loadAlone(folder, { name, exports, peerDependencies = {} }) {
  const entries = entriesOf({ name, exports });
  writeFileSync(join(folder, "alone.mjs"), PROGRAM);
  const question = JSON.stringify([entries, Object.keys(peerDependencies)]);
  const { code, lines, errors } = await runNode(folder, ["alone.mjs", question]);
  if (code !== 0) throw new Error(errors.join("\n"));
  return lines[0] === "all" ? `${entries.length} entry points load` : `loads; ${lines[0]}`;
}

/** @returns {string[]} what users import */
export function entriesOf({ name, exports }) {
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith(".json"))
    .map((entry) => name + entry.slice(1));
}
