// The arguments of `npm run pack:matrix`.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** @typedef {import("./managers.mjs").Manager} Manager */

/**
 * @param {string[]} args
 * @param {Pick<Manager, "name">[]} managers
 * @returns {{ tarballs?: string, isTimesOnly: boolean, starts: string[] }}
 * @throws `Error` that says what is allowed
 */
export function parseOptions(args, managers) {
  const { values, positionals } = parseArgs({
    args,
    options: { tarballs: { type: "string" } },
    allowPositionals: true,
  });
  const isTimesOnly = positionals.join() === "times";
  const starts = isTimesOnly ? [] : positionals;
  const unknown = starts.find((start) => !managers.some(({ name }) => name.startsWith(start)));
  if (unknown !== undefined) {
    const names = managers.map(({ name }) => name).join(", ");
    throw new Error(`no package manager begins with "${unknown}": there are ${names}; or times`);
  }
  if (values.tarballs === undefined) return { isTimesOnly, starts };
  const tarballs = resolve(values.tarballs);
  if (!existsSync(tarballs)) throw new Error(`--tarballs: there is no folder ${tarballs}`);
  return { tarballs, isTimesOnly, starts };
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
