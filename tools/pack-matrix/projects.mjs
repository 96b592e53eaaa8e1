// The consumers of all packages together. Each is an installation of its own, so that a package manager that
// cannot install one of them still tries the others.
import { jestChecks, jestPackages, jestResolutions, writeJest } from "./jest.mjs";
import { runnerChecks, VITEST, writeRunners } from "./runners.mjs";
import { typeChecks, typescriptAliases, writePrograms } from "./type-checks.mjs";

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {(folder: string) => Promise<string>} check - says what was seen, or rejects
 */

/**
 * @typedef {object} Project
 * @property {string} name
 * @property {Record<string, string>} dependencies - beside the packages and their peers
 * @property {Record<string, string>} resolutions - for a package manager that installs it only so
 * @property {(folder: string, entries: string[]) => void} write
 * @property {Check[]} checks
 */

/** @type {Project[]} */
export const projects = [
  {
    name: "together",
    dependencies: { ...typescriptAliases(), ...VITEST },
    resolutions: {},
    write(folder, entries) {
      writePrograms(folder, entries);
      writeRunners(folder);
    },
    checks: [...runnerChecks, ...typeChecks()],
  },
  {
    name: "jest",
    dependencies: jestPackages,
    resolutions: jestResolutions,
    write: writeJest,
    checks: jestChecks,
  },
];
