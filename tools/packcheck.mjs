// Packs every public package as it would be published and looks at the tarballs from outside:
// publint, attw, a consumer beyond the workspace that imports, requires and type-checks each entry, and newcomers who
// follow the guide of the first operator or make a project.
import { deepEqual } from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkCreatedOperator } from "./created-operator.mjs";
import { checkFirstOperator } from "./first-operator.mjs";
import { loadAlone } from "./pack-matrix/alone.mjs";
import { ENDS, typeChecks, typescriptAliases, writePrograms } from "./pack-matrix/type-checks.mjs";
import { bin, entriesOf, publicPackages, run } from "./packages.mjs";
import { problemsOfFiles, problemsOfManifest, problemsOfReadme } from "./packed.mjs";
import { installInto, packInto, tarballOf } from "./tarballs.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const consumer = mkdtempSync(join(tmpdir(), "packcheck-"));
try {
  const packages = publicPackages();
  packInto(consumer, packages);
  for (const { manifest } of packages) checkTarball(manifest);
  await checkConsumer(packages);
  checkAlone(packages);
  await checkFirstOperator(packages, consumer);
  await checkCreatedOperator(packages, consumer);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(consumer, { recursive: true });
}

function checkTarball(manifest) {
  const tarball = tarballOf(consumer, manifest);
  run(bin("publint"), ["--strict", tarball]);
  run(bin("attw"), ["--profile", "esm-only", tarball]);
  const read = (file) => run("tar", ["-xzOf", tarball, `package/${file}`]);
  const files = run("tar", ["-tzf", tarball])
    .split("\n")
    .filter(Boolean)
    .map((file) => file.replace("package/", ""));
  const packed = JSON.parse(read("package.json"));
  const problems = [
    ...problemsOfFiles(files, packed, read),
    ...problemsOfManifest(packed),
    ...problemsOfReadme(read("README.md")),
  ];
  if (problems.length > 0)
    throw new Error(problems.map((problem) => `${manifest.name}: ${problem}`).join("\n"));
}

async function checkConsumer(packages) {
  installInto(consumer, packages, typescriptAliases(ENDS));
  // Every peer is there, so none may be missing.
  for (const { manifest } of packages)
    await loadAlone(consumer, { ...manifest, peerDependencies: {} });
  checkBundles(packages);
  const entries = packages.flatMap(({ manifest }) => entriesOf(manifest)).map(({ name }) => name);
  writePrograms(consumer, entries);
  for (const { name, check } of typeChecks(ENDS))
    await check(consumer).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  console.log(
    `${entries.length} entries of ${packages.length} packages can be imported and required`,
  );
}

/** The bundles export what the unbundled build exports: as many classes, under the same names. */
function checkBundles(packages) {
  const entries = packages.flatMap(({ folder, manifest }) =>
    entriesOf(manifest).map(({ name, file }) => ({ name, path: resolve(folder, file) })),
  );
  const script = resolve("tools/exports-of.mjs");
  cpSync(script, join(consumer, "exports-of.mjs"));
  const bundled = entries.map(({ name }) => [name, name]);
  const built = entries.map(({ name, path }) => [name, pathToFileURL(path).href]);
  const exportsOf = (program, modules, cwd) =>
    JSON.parse(run("node", [program, JSON.stringify(modules)], cwd));
  deepEqual(exportsOf("exports-of.mjs", bundled, consumer), exportsOf(script, built, "."));
}

/** An outbox on PostgreSQL needs `pg` and our packages, and loads nothing else: nothing else is there. */
function checkAlone(packages) {
  const folder = mkdtempSync(join(tmpdir(), "packcheck-alone-"));
  try {
    // The cli is a program: it brings what it reads arguments and manifests with.
    const libraries = packages.filter(({ manifest }) => manifest.name !== "@holdfast/cli");
    const own = libraries.map(({ manifest }) => ({
      manifest: { ...manifest, peerDependencies: {} },
    }));
    installInto(folder, own, { pg: peerOf(packages, "@holdfast/outbox", "pg") }, consumer);
    const foreign = [
      "@electric-sql",
      "@marcbachmann",
      "@nats-io",
      "@opentelemetry",
      "amqplib",
      "fast-check",
      "ioredis",
      "json-schema-to-typescript",
      "kafkajs",
      "mysql2",
      "prom-client",
      "rxjs",
      "yaml",
    ];
    const found = foreign.filter((name) => existsSync(join(folder, "node_modules", name)));
    if (found.length > 0) throw new Error(`an outbox on PostgreSQL alone installs ${found}`);
    const program = [
      'import { PostgresLock } from "@holdfast/controller/postgres-lock";',
      'import { Recovery, Outbox, Relay, Retention } from "@holdfast/outbox";',
      'import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";',
      'import { WebhookPublisher } from "@holdfast/outbox/webhook";',
      'import pg from "pg";',
      "const pool = new pg.Pool();",
      "const database = new PgDatabase(pool);",
      "const store = new PostgresStore(database);",
      'const publisher = new WebhookPublisher({ url: "http://127.0.0.1" });',
      'const lock = new PostgresLock(pool, { name: "upkeep" });',
      "new Outbox({ store });",
      'new Relay({ name: "relay", store, publisher });',
      'new Recovery({ name: "recovery", store, lock });',
      'new Retention({ name: "retention", store, lock });',
    ];
    writeFileSync(join(folder, "alone.mjs"), program.join("\n"));
    run("node", ["alone.mjs"], folder);
    console.log("@holdfast/outbox on PostgreSQL needs pg alone");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function peerOf(packages, name, peer) {
  return packages.find(({ manifest }) => manifest.name === name).manifest.peerDependencies[peer];
}
