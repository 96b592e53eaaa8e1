// Compiles a consumer of every entry point with each TypeScript in each mode of resolution.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./run-node.mjs";

/** Those that the READMEs promise, from the floor on. */
const TYPESCRIPTS = {
  5.4: "5.4.5",
  5.6: "5.6.3",
  5.9: "5.9.3",
  "6.0": "6.0.3",
  "7.0": "7.0.2",
};

const MODES = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  node16: { module: "node16", moduleResolution: "node16" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

const LIB = ["es2023", "dom", "esnext.disposable"];

/** The oldest and the newest of them. */
export const ENDS = ["5.4", "7.0"];

/** How each TypeScript is installed: under a name of its own, beside the others. */
export function typescriptAliases(names = Object.keys(TYPESCRIPTS)) {
  return Object.fromEntries(
    names.map((name) => [aliasOf(name), `npm:typescript@${TYPESCRIPTS[name]}`]),
  );
}

function aliasOf(name) {
  return `typescript-${name.replace(".", "-")}`;
}

/**
 * Writes the programs that {@link typeChecks} compile.
 *
 * @param {string} folder
 * @param {string[]} entries
 */
export function writePrograms(folder, entries) {
  const each = (line) => `${entries.map((entry, index) => line(entry, index)).join("\n")}\n`;
  const files = {
    "esm.mts": each((entry, index) => `export * as e${index} from "${entry}";`),
    "require.cts": each(
      (entry, index) => `import e${index} = require("${entry}");\nvoid e${index};`,
    ),
    "import.cts": each((entry, index) => `export const e${index} = () => import("${entry}");`),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
}

/** @returns {{ name: string, check: (folder: string) => Promise<string> }[]} */
export function typeChecks(names = Object.keys(TYPESCRIPTS)) {
  return names.flatMap((typescript) =>
    Object.keys(MODES).flatMap((mode) => {
      // One program for both systems: most of its time goes into the declarations.
      let compiled;
      const compile = (folder) => (compiled ??= errorsOf(folder, typescript, mode));
      const name = `TypeScript ${typescript} ${mode}`;
      return [
        { name: `${name} ESM`, check: async (folder) => esm(await compile(folder)) },
        {
          name: `${name} CommonJS`,
          check: async (folder) => commonJs(await compile(folder), knowsRequire(typescript, mode)),
        },
      ];
    }),
  );
}

/** `node16`, and `nodenext` before 5.8, know no `require` of ESM; there a program has to use `import()`. */
function knowsRequire(typescript, mode) {
  return mode === "bundler" || (mode === "nodenext" && Number(typescript) >= 5.8);
}

function esm(errors) {
  refuse(errors, ["require.cts", "import.cts"]);
  return "import compiles";
}

function commonJs(errors, isRequired) {
  if (isRequired) {
    refuse(errors, ["esm.mts"]);
    return "require and import() compile";
  }
  refuse(errors, ["esm.mts", "require.cts"]);
  const codes = errors.filter(isIn("require.cts")).map((error) => /TS\d+/.exec(error)?.[0]);
  if ([...new Set(codes)].join() !== "TS1471") throw new Error(errors.join("\n"));
  return "import() compiles; require is TS1471";
}

/** Fails for every error but those of some programs. */
function refuse(errors, others) {
  const own = errors.filter((error) => !others.some((file) => isIn(file)(error)));
  if (own.length > 0) throw new Error(own.join("\n"));
}

function isIn(file) {
  return (error) => error.startsWith(`${file}(`);
}

/** With its options in a file, because the old command line takes no empty list of types. */
async function errorsOf(folder, typescript, mode) {
  const compilerOptions = {
    ...MODES[mode],
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    target: "es2022",
    types: [],
    lib: LIB,
  };
  const config = `tsconfig.${typescript}.${mode}.json`;
  const files = ["esm.mts", "require.cts", "import.cts"];
  writeFileSync(join(folder, config), JSON.stringify({ compilerOptions, files }));
  const args = [`node_modules/${aliasOf(typescript)}/bin/tsc`, "--pretty", "false", "-p", config];
  const { code, lines, errors } = await runNode(folder, args);
  if (code === 0) return [];
  // A line that is indented belongs to the error above it.
  const found = [...errors, ...lines].join("\n").split(/\n(?=\S)/);
  return found.length > 0 ? found : [`tsc exits with ${code}`];
}
