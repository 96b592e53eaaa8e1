// Writes what users can call: `packages/NAME/api/ENTRY.api.txt`, one report for each entry point, made by API
// Extractor of the declarations that `tsc -b` has written. A change of the public surface is a change of a
// report, so a review sees it. A report has the own types and base classes that its exports mention, too.
//
// `node tools/api-report.mjs` writes the reports. `node tools/api-report.mjs --check` fails if one is stale, or if a
// type stands in public signatures and no entry point exports it.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from "@microsoft/api-extractor";
import { readArguments } from "./arguments.mjs";
import { entriesOf, publicPackages } from "./packages.mjs";

/**
 * @typedef {object} Surface
 * @property {Map<string, string>} reports - the text of each report by its path
 * @property {string[]} hidden - types in public signatures that no entry point of their package exports
 */

/**
 * The public surface of packages that `tsc -b` has built.
 *
 * @param {{ folder: string, manifest: any }[]} [packages]
 * @returns {Surface}
 */
export function surfaceOf(packages = publicPackages()) {
  const surfaces = packages
    .filter(({ manifest }) => entriesOf(manifest).length > 0)
    .map((one) => surfaceOfPackage(one));
  return {
    reports: new Map(surfaces.flatMap(({ reports }) => [...reports])),
    hidden: surfaces.flatMap(({ hidden }) => hidden),
  };
}

function surfaceOfPackage({ folder, manifest }) {
  const scratch = mkdtempSync(join(tmpdir(), "api-report-"));
  try {
    const entries = entriesOf(manifest).map((entry, index) => ({
      ...entry,
      file: join(scratch, `${index}.api.md`),
      config: configOf(resolve(folder), entry.types, scratch, `${index}.api.md`),
    }));
    const [first, ...others] = entries.map(({ config }) => config);
    if (first === undefined) throw new Error(`${manifest.name} has no entry point`);
    const compilerState = CompilerState.create(first, {
      additionalEntryPoints: others.map((config) => config.mainEntryPointFilePath),
    });
    const made = entries.map(({ name, report, file, config }) => {
      const forgotten = extract(config, compilerState);
      return {
        name,
        path: `${folder}/${report}`,
        blocks: blocksOf(readFileSync(file, "utf8")),
        forgotten,
      };
    });
    return combined(made);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/**
 * The reports of a package. What one entry point exports stands in its report only, although others mention it.
 *
 * @param {{ name: string, path: string, blocks: string[], forgotten: Set<string | undefined> }[]} made
 * @returns {Surface}
 */
function combined(made) {
  const exported = new Set(
    made
      .flatMap(({ blocks }) => blocks.map(declarationOf))
      .flatMap(({ name, isExported }) => (isExported ? [name] : [])),
  );
  const isElsewhere = (block) => {
    const { name, isExported } = declarationOf(block);
    return !isExported && exported.has(name);
  };
  const isBase = (name, blocks) =>
    blocks.some((block) => CLASS.test(block) && block.includes(` extends ${name} `));
  return {
    reports: new Map(
      made.map(({ name, path, blocks }) => {
        const head = `// ${name}\n// Made by tools/api-report.mjs; \`npm run api\` makes it anew.`;
        return [path, `${[head, ...blocks.filter((one) => !isElsewhere(one))].join("\n\n")}\n`];
      }),
    ),
    // The members of a base class are those of the exported class: it need not be exported.
    hidden: made.flatMap(({ path, blocks, forgotten }) =>
      [...forgotten]
        .filter((name) => !exported.has(name) && !isBase(name, blocks))
        .map((name) => `${path}: ${name}`),
    ),
  };
}

function configOf(projectFolder, types, reportFolder, reportFileName) {
  const mainEntryPointFilePath = resolve(projectFolder, types);
  if (!existsSync(mainEntryPointFilePath))
    throw new Error(`${mainEntryPointFilePath} is missing: run tsc -b`);
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder,
      mainEntryPointFilePath,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: { compilerOptions: COMPILER, files: [mainEntryPointFilePath] },
      },
      apiReport: {
        enabled: true,
        reportFolder,
        reportFileName,
        reportTempFolder: join(reportFolder, "temp"),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: silent,
        tsdocMessageReporting: silent,
        extractorMessageReporting: {
          ...silent,
          "ae-forgotten-export": { logLevel: ExtractorLogLevel.Warning },
        },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, "package.json"),
  });
}

const COMPILER = {
  module: "NodeNext",
  target: "ES2022",
  lib: ["ES2023", "DOM", "ESNext.Disposable"],
  types: [],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Writes a report and returns the names of the declarations in it that are not exported. */
function extract(config, compilerState) {
  const forgotten = new Set();
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback: (message) => {
      if (message.messageId === "ae-forgotten-export")
        forgotten.add(/"([^"]+)"/.exec(message.text)?.[1]);
      else if (message.logLevel === "error") throw new Error(message.text);
      message.handled = true;
    },
  });
  return forgotten;
}

/**
 * The declarations of a report, without its Markdown and the remarks of API Extractor.
 *
 * @param {string} markdown
 */
function blocksOf(markdown) {
  const code = /^```ts\n(.*)^```$/ms.exec(markdown)?.[1] ?? "";
  const lines = code.split("\n").filter((line) => !/^\s*\/\//.test(line));
  return lines
    .join("\n")
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

const DECLARED =
  /^(export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|let|function|enum|namespace) (\w+)/;

const CLASS = /^(?:export )?(?:abstract )?class /;

/**
 * The name of a block, if it declares one.
 *
 * @param {string} block
 */
function declarationOf(block) {
  const [, exported, name] = DECLARED.exec(block) ?? [];
  return { name, isExported: exported !== undefined };
}

/**
 * @param {Map<string, string>} reports
 * @param {{ folder: string }[]} [packages]
 * @returns {string[]} files that differ from the declarations, or that have no entry point any more
 */
export function staleReports(reports, packages = publicPackages()) {
  const wrong = [...reports].filter(
    ([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text,
  );
  return [...wrong.map(([path]) => path), ...leftovers(reports, packages)];
}

function leftovers(reports, packages) {
  return packages
    .map(({ folder }) => `${folder}/api`)
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
    .filter((path) => !reports.has(path));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const isCheck = readArguments(
    "npm run api -- [options]\n  --check   lists stale reports and hidden types, and writes nothing\n  --help",
    { options: { check: { type: "boolean" } } },
    ({ values }) => values["check"],
  );
  const { reports, hidden } = surfaceOf();
  const stale = staleReports(reports);
  for (const type of hidden)
    console.error(`${type} stands in public signatures: export it, or write it there`);
  process.exitCode = hidden.length > 0 ? 1 : 0;
  if (isCheck) {
    for (const path of stale) console.error(`${path} is stale`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const path of stale.filter((one) => !reports.has(one))) rmSync(path);
    for (const [path, text] of reports) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    console.log(`${reports.size} reports, ${stale.length} of them changed`);
  }
}
