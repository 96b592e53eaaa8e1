// How the suite runs in each kind of runtime. `folder` holds the suite and the installed tarballs.
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { execute } from "../tools/execute.mjs";
import { NotRunError, programOf } from "./programs.mjs";

const ESBUILD = "esbuild@0.28.2";
const VITE = "vite@8.3.8";
const ORIGIN = "http://runtimes.test";
const PAGE = '<!doctype html><script type="module" src="/program.js"></script>';
/** The last date on which nodejs_compat has to be asked for is 2026-08-03. */
const COMPATIBILITY_DATE = "2026-08-01";
const TYPES = { ".html": "text/html", ".js": "text/javascript" };

/** Node and the like: `suite/program.mjs` as it is. */
export async function runProgram(program, args, folder) {
  const version = await versionOf(program);
  const options = { cwd: folder, lastLine: '{"checks":' };
  const outcome = await execute(program, [...args, "suite/program.mjs"], options);
  return { version, ...outcome, exits: outcome.code === 0 };
}

/** One esbuild bundle is the whole worker, as with wrangler. */
export async function runWorker(program, hasNode, folder) {
  const version = await versionOf(program);
  await bundle("suite/worker.mjs", folder);
  writeFileSync(
    join(folder, "worker.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "suite", worker = (
  modules = [(name = "worker", esModule = embed "site/worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = [${hasNode ? '"nodejs_compat"' : ""}],
))]);
`,
  );
  return { version, ...(await execute(program, ["test", "worker.capnp"], { cwd: folder })) };
}

/** A page with one esbuild bundle. */
export async function runBundled(program, folder) {
  await bundle("suite/program.mjs", folder);
  writeFileSync(join(folder, "site/index.html"), PAGE);
  return visit(program, join(folder, "site"));
}

/** A page that Vite builds, with its defaults. */
export async function runVite(program, folder) {
  writeFileSync(join(folder, "index.html"), PAGE.replace("/program.js", "/suite/program.mjs"));
  await build(VITE, ["build", "--logLevel", "warn"], folder);
  return visit(program, join(folder, "dist"));
}

async function bundle(entry, folder) {
  const format = ["--bundle", "--format=esm", "--target=es2022", "--log-level=warning"];
  await build(ESBUILD, [entry, ...format, "--outdir=site"], folder);
}

/** A bundler that is there and fails is a failure of the suite, unlike one that is not there. */
async function build(spec, args, folder) {
  const { code, lines, errors } = await execute(await programOf(spec), args, { cwd: folder });
  if (code !== 0) throw new Error([`${spec} failed`, ...lines, ...errors].join("\n"));
}

/** Serves `site` to a page, until the page has printed the last line of the suite. */
async function visit(executablePath, site) {
  const browser = await chromium
    .launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })
    .catch((error) => {
      throw new NotRunError(`Chromium did not start: ${error.message.split("\n")[0]}`);
    });
  try {
    const page = await browser.newPage();
    const lines = [];
    const errors = [];
    page.on("pageerror", (error) => errors.push(`${error.stack}`));
    page.on("console", (message) => {
      const isResult = message.text().startsWith('{"');
      (isResult ? lines : errors).push(message.text());
    });
    await page.route(`${ORIGIN}/**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      const path = pathname === "/" ? "/index.html" : pathname;
      const body = await readFile(join(site, path)).catch(() => undefined);
      const type = TYPES[/\.\w+$/.exec(path)?.[0] ?? ""];
      await route.fulfill(body ? { body, contentType: type } : { status: 404 });
    });
    const last = page.waitForEvent("console", {
      predicate: (message) => message.text().startsWith('{"checks":'),
      timeout: 60_000,
    });
    await page.goto(ORIGIN);
    await last.catch((error) => errors.push(error.message));
    return { version: browser.version(), lines, errors };
  } finally {
    await browser.close();
  }
}

/** @throws NotRunError if the program does not start */
async function versionOf(program) {
  const { code, lines, errors } = await execute(program, ["--version"], { cwd: "." });
  if (code !== 0) throw new NotRunError(errors[0] ?? `${program} did not start`);
  return /\d[\d.-]*\d/.exec(lines[0] ?? "")?.[0] ?? "unknown";
}
