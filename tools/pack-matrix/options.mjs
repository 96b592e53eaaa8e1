// The arguments of `npm run pack:matrix`.
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** @typedef {import("./managers.mjs").Manager} Manager */

/** @type {import("node:util").ParseArgsConfig} */
export const CONFIG = { options: { tarballs: { type: "string" } }, allowPositionals: true };

/** @param {Pick<Manager, "name">[]} managers */
export function usageOf(managers) {
  return `npm run pack:matrix -- [options] [starts of names] (default: all)
${managers.map(({ name }) => `  ${name}`).join("\n")}
  --tarballs FOLDER   takes the tarballs that tools/tarballs.mjs left there
  --help`;
}

/**
 * @param {{ values: Record<string, any>, positionals: string[] }} parsed - with {@link CONFIG}
 * @param {Pick<Manager, "name">[]} managers
 * @returns {{ tarballs?: string, starts: string[] }}
 * @throws `Error` that says what is wrong
 */
export function optionsOf({ values, positionals }, managers) {
  const unknown = positionals.find((start) => !managers.some(({ name }) => name.startsWith(start)));
  if (unknown !== undefined) throw new Error(`no package manager begins with "${unknown}"`);
  if (values["tarballs"] === undefined) return { starts: positionals };
  const tarballs = resolve(values["tarballs"]);
  if (!existsSync(tarballs)) throw new Error(`--tarballs: there is no folder ${tarballs}`);
  return { tarballs, starts: positionals };
}

/**
 * @template {Pick<Manager, "name">} M
 * @param {M[]} managers
 * @param {string[]} starts - none for all
 */
export function chosenIn(managers, starts) {
  return managers.filter(
    ({ name }) => starts.length === 0 || starts.some((start) => name.startsWith(start)),
  );
}
