import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Another process that builds for longer than this has died, and its id is used again. */
const LONGEST_BUILD = 3_600_000;

/**
 * Takes a building site, also one that a dead process has left.
 *
 * @param {string} site
 */
export function claimSite(site) {
  const owner = ownerOf(site);
  if (owner !== undefined) {
    if (isAlive(owner.pid) && Date.now() - owner.since < LONGEST_BUILD) return false;
    rmSync(site, { recursive: true, force: true, maxRetries: 5 });
  }
  const mine = `${site}.${process.pid}`;
  rmSync(mine, { recursive: true, force: true });
  mkdirSync(mine);
  writeFileSync(join(mine, "owner"), JSON.stringify({ pid: process.pid, since: Date.now() }));
  try {
    renameSync(mine, site); // fails if another process was faster: its folder is not empty
    return true;
  } catch {
    rmSync(mine, { recursive: true, force: true });
    return false;
  }
}

/** @param {string} site */
function ownerOf(site) {
  try {
    return JSON.parse(readFileSync(join(site, "owner"), "utf8"));
  } catch {
    return undefined; // free, or just left
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
