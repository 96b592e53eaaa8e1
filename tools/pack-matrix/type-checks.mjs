// Compiles a consumer of every entry point with each TypeScript in each mode of resolution.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execute } from "../../runtimes/programs.mjs";

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

/** How a TypeScript is installed: under a name of its own, beside the others. */
export function typescriptAliases() {
  return Object.fromEntries(
    Object.entries(TYPESCRIPTS).map(([name, version]) => [
      aliasOf(name),
      `npm:typescript@${version}`,
    ]),
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
export function typeChecks() {
  return Object.keys(TYPESCRIPTS).flatMap((typescript) =>
    Object.keys(MODES).flatMap((mode) => [
      {
        name: `TypeScript ${typescript} ${mode} ESM`,
        check: (folder) => compile(folder, typescript, mode, "esm.mts"),
      },
      {
        name: `TypeScript ${typescript} ${mode} CommonJS`,
        check: (folder) => compileCommonJs(folder, typescript, mode),
      },
    ]),
  );
}

/** `node16`, and `nodenext` before 5.8, know no `require` of ESM; there a program has to use `import()`. */
async function compileCommonJs(folder, typescript, mode) {
  const knowsRequire = mode === "bundler" || (mode === "nodenext" && Number(typescript) >= 5.8);
  if (knowsRequire) return `require: ${await compile(folder, typescript, mode, "require.cts")}`;
  const refusal = await compile(folder, typescript, mode, "require.cts").catch((error) => error);
  const codes = new Set(String(refusal.message).match(/\bTS\d+/g));
  if ([...codes].join() !== "TS1479") throw new Error(`require: ${refusal.message ?? refusal}`);
  return `import(): ${await compile(folder, typescript, mode, "import.cts")}; require is TS1479`;
}

/** In a file, because the old command line takes no empty list of types. */
async function compile(folder, typescript, mode, file) {
  const compilerOptions = {
    ...MODES[mode],
    ...{ noEmit: true, strict: true, skipLibCheck: false, target: "es2022", types: [], lib: LIB },
  };
  const config = `tsconfig.${typescript}.${mode}.${file}.json`;
  writeFileSync(join(folder, config), JSON.stringify({ compilerOptions, files: [file] }));
  const program = `node_modules/${aliasOf(typescript)}/bin/tsc`;
  const { code, lines, errors } = await execute("node", [program, "-p", config], { cwd: folder });
  if (code !== 0) throw new Error([...lines, ...errors].join("\n"));
  return "compiles";
}
