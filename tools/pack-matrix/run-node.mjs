import { execute } from "../execute.mjs";

/** Enough for a compiler on a machine that is busy with other things, in milliseconds. */
const LIMIT = 10 * 60_000;

/**
 * @param {string} folder
 * @param {string[]} args - of Node
 */
export function runNode(folder, args) {
  return execute("node", args, { cwd: folder, limit: LIMIT });
}
