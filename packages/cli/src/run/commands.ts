import { once } from "node:events";
import { realpathSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { type Cut, usage, wholeNumber } from "../arguments.ts";
import { EXIT } from "../exit-code.ts";
import { type Holder, runningSupervisors } from "./machine/run-lock.ts";
import { importFile } from "./manifest/import-manifest.ts";
import { problemOf } from "./manifest/problem-of.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import type { Snapshot } from "./web/snapshot.ts";

/** A command beside `holdfast run FILE`, by its first word. */
export const COMMANDS: ReadonlyMap<string, (cut: Cut) => Promise<number>> = new Map([
  ["check", check],
  ["status", status],
  ["restart", restart],
  ["logs", logs],
  ["import", importManifest],
]);

function parse({ own }: Cut, parser: Command): Command {
  return parser.helpOption("--help", "show this help").exitOverride().parse(own, { from: "user" });
}

// ── Files ──

async function check(cut: Cut): Promise<number> {
  const parser = new Command("holdfast run check")
    .argument("<file>")
    .description(
      "Checks a manifest: 0 if it can be run, 2 with every mistake and its line if not.",
    );
  const [file = ""] = parse(cut, parser).args;
  const problem = problemOf(readManifest(file), file);
  if (problem === undefined) return EXIT.ok;
  process.stderr.write(`${problem}\n`);
  return EXIT.usage;
}

async function importManifest(cut: Cut): Promise<number> {
  const parser = new Command("holdfast run import")
    .argument("<file>")
    .description("Prints a Procfile or a process-compose.yaml as a manifest.");
  const [file = ""] = parse(cut, parser).args;
  const { yaml, left } = importFile(file);
  for (const line of left) process.stderr.write(`holdfast: ${line}\n`);
  process.stdout.write(yaml);
  return EXIT.ok;
}

// ── A running supervisor ──

/** Options that choose a supervisor. */
function remote(name: string): Command {
  return new Command(`holdfast run ${name}`).option(
    "--file <file>",
    "manifest of the supervisor; needed if several run",
  );
}

/** The one running supervisor, or that of `--file`. */
function holderOf(parser: Command): Holder {
  const { file } = parser.opts<{ readonly file?: string }>();
  const all = runningSupervisors().filter(({ url }) => url !== undefined);
  const isMeant = (holder: Holder): boolean => {
    try {
      return file === undefined || realpathSync(holder.file) === realpathSync(file);
    } catch {
      return false;
    }
  };
  const meant = all.filter(isMeant);
  const [holder] = meant;
  if (holder === undefined) return usage(parser, "no holdfast run with a page is running");
  if (meant.length > 1)
    usage(
      parser,
      `several are running, choose one with --file: ${meant.map((one) => one.file).join(", ")}`,
    );
  return holder;
}

async function ask({ url = "", token }: Holder, method: string, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = request(new URL(path, url), { method, headers, agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(body.trim());
  return body;
}

async function status(cut: Cut): Promise<number> {
  const parser = parse(cut, remote("status").description("Shows the processes of a supervisor."));
  const { processes } = JSON.parse(await ask(holderOf(parser), "GET", "/state")) as Snapshot;
  for (const { name, phase, ready, pid, restarts, reason, lastExit } of processes) {
    const readiness = ready === undefined ? "" : ready ? " ready" : " not ready";
    const facts = [
      `${phase}${readiness}`,
      pid && `pid ${pid}`,
      `${restarts} restarts`,
      reason ?? lastExit,
    ];
    process.stdout.write(`${name}: ${facts.filter(Boolean).join(", ")}\n`);
  }
  return processes.some(({ phase }) => phase === "Failed") ? 1 : EXIT.ok;
}

async function restart(cut: Cut): Promise<number> {
  const parser = remote("restart")
    .argument("<name>")
    .description("Stops a process and starts it anew.");
  const [name = ""] = parse(cut, parser).args;
  await ask(holderOf(parser), "POST", `/restart?name=${encodeURIComponent(name)}`);
  return EXIT.ok;
}

async function logs(cut: Cut): Promise<number> {
  const parser = remote("logs")
    .argument("<name>")
    .option("-n, --lines <number>", "how many lines, at most 500", wholeNumber(1, 500), 100)
    .description("Prints the last lines of a process.");
  const [name = ""] = parse(cut, parser).args;
  const body = await ask(holderOf(parser), "GET", `/logs?name=${encodeURIComponent(name)}`);
  const { lines } = parser.opts<{ readonly lines: number }>();
  for (const line of (JSON.parse(body) as string[]).slice(-lines))
    process.stdout.write(`${line}\n`);
  return EXIT.ok;
}
