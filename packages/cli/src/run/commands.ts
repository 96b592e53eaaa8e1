import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type Clock, onAbort } from "@holdfast/clock";
import { readUpTo } from "@holdfast/kit/node";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import type { Command } from "commander";
import { type Cut, createCommand, formatDuration, usage, wholeNumber } from "../arguments.ts";
import { EXIT } from "../exit-code.ts";
import { readNamed } from "../named-file.ts";
import { printable } from "../printable.ts";
import { realPath } from "../system-call.ts";
import { type Holder, pageOf, runningSupervisors } from "./machine/run-lock.ts";
import { importManifest } from "./manifest/import-manifest.ts";
import { problemOf } from "./manifest/problem-of.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import { endText } from "./web/page.ts";
import type { Snapshot } from "./web/snapshot.ts";

/** A command beside `holdfast run FILE`, by its first word. */
export const COMMANDS: ReadonlyMap<string, (cut: Cut, clock: Clock) => Promise<number>> = new Map([
  ["check", check],
  ["status", status],
  ["restart", act("restart", "Stops a process and starts it anew.")],
  ["stop", act("stop", "Stops a process until `holdfast run restart NAME`.")],
  ["page", page],
  ["logs", logs],
  ["import", importFile],
]);

function parse({ own }: Cut, parser: Command): Command {
  return parser.helpOption("--help", "show this help").parse(own, { from: "user" });
}

// ── Files ──

async function check(cut: Cut, clock: Clock): Promise<number> {
  const parser = createCommand("holdfast run check")
    .argument("<file>")
    .description(
      "Checks a manifest: 0 if it can be run, 2 with every mistake and its line if not.",
    );
  const [file = ""] = parse(cut, parser).args;
  const problem = problemOf(await readManifest(file, { clock, pipes: true }), file);
  if (problem === undefined) return EXIT.ok;
  process.stderr.write(`${problem}\n`);
  return EXIT.usage;
}

async function importFile(cut: Cut, clock: Clock): Promise<number> {
  const parser = createCommand("holdfast run import")
    .argument("<file>")
    .description("Prints a Procfile or a process-compose.yaml as a manifest.");
  const [file = ""] = parse(cut, parser).args;
  const text = (await readNamed(file, { clock, pipes: true })).toString("utf8");
  const { yaml, left } = importManifest(text);
  for (const line of left) process.stderr.write(`holdfast: ${printable(line)}\n`);
  process.stdout.write(yaml);
  return EXIT.ok;
}

// ── A running supervisor ──

/** Options that choose a supervisor. */
function remote(name: string): Command {
  return createCommand(`holdfast run ${name}`).option(
    "--file <file>",
    "manifest of the supervisor; needed if several run",
  );
}

/** The one running supervisor, or that of `--file`. */
async function holderOf(parser: Command): Promise<Holder> {
  const { file } = parser.opts<{ readonly file?: string }>();
  const all = runningSupervisors().filter(({ url }) => url !== undefined);
  const pathOf = (path: string): Promise<string | undefined> =>
    realPath(path).catch(() => undefined);
  const wanted = file === undefined ? undefined : await pathOf(file);
  const paths = await Promise.all(all.map(async (one) => wanted && (await pathOf(one.file))));
  const meant = all.filter(
    (_, index) => file === undefined || (wanted !== undefined && paths[index] === wanted),
  );
  const [holder] = meant;
  if (holder === undefined) return usage(parser, "no holdfast run with a page is running");
  if (meant.length > 1)
    usage(
      parser,
      `several are running, choose one with --file: ${meant.map((one) => one.file).join(", ")}`,
    );
  return holder;
}

/** How long a supervisor may take to answer, in milliseconds. */
const PATIENCE = 10_000;
/** Longest answer, in bytes: 500 lines of 16 KB in JSON are shorter. */
const LONGEST_ANSWER = 64_000_000;

/** Asks a supervisor. What comes back is text of another process: it is not printed as it is. */
async function ask(holder: Holder, method: string, path: string, clock: Clock): Promise<string> {
  try {
    return await withTimeout((signal) => answerOf(holder, method, path, signal), PATIENCE, {
      clock,
    });
  } catch (error) {
    if (!isTimeoutError(error)) throw error;
    throw new Error(`process ${holder.pid} did not answer within ${formatDuration(PATIENCE)}`);
  }
}

async function answerOf(
  { pid, url = "", token }: Holder,
  method: string,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = request(new URL(path, url), { method, headers, agent: false });
  using _ = onAbort(signal, (reason) => asked.destroy(reason as Error));
  asked.on("error", () => undefined); // Once it has begun, the answer tells.
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const body = (await readUpTo(response, LONGEST_ANSWER))?.toString();
  if (body === undefined) throw new Error(`process ${pid} gave too long an answer`);
  if (response.statusCode !== 200) throw new Error(body.trim());
  return body;
}

async function status(cut: Cut, clock: Clock): Promise<number> {
  const parser = parse(cut, remote("status").description("Shows the processes of a supervisor."));
  const answer = await ask(await holderOf(parser), "GET", "/status", clock);
  const { processes } = JSON.parse(answer) as Snapshot;
  for (const { name, phase, ready, pid, restarts, reason, lastExit, lastWords } of processes) {
    const readiness = ready === undefined ? "" : ready ? " ready" : " not ready";
    const facts = [
      `${phase}${readiness}`,
      pid && `pid ${pid}`,
      `${restarts} restarts`,
      reason ?? endText(lastExit, lastWords),
    ];
    process.stdout.write(`${printable(`${name}: ${facts.filter(Boolean).join(", ")}`)}\n`);
  }
  return processes.some(({ phase }) => phase === "Failed") ? 1 : EXIT.ok;
}

/** A command that asks for something to be done to a process. */
function act(verb: "restart" | "stop", description: string) {
  return async (cut: Cut, clock: Clock): Promise<number> => {
    const parser = remote(verb).argument("<name>").description(description);
    const [name = ""] = parse(cut, parser).args;
    await ask(await holderOf(parser), "POST", `/${verb}?name=${encodeURIComponent(name)}`, clock);
    return EXIT.ok;
  };
}

async function page(cut: Cut): Promise<number> {
  const description = "Prints the address of the page, with the token for output and buttons.";
  const holder = await holderOf(parse(cut, remote("page").description(description)));
  process.stdout.write(`${pageOf(holder, holder.url ?? "")}\n`);
  return EXIT.ok;
}

async function logs(cut: Cut, clock: Clock): Promise<number> {
  const parser = remote("logs")
    .argument("<name>")
    .option("-n, --lines <number>", "how many lines, at most 500", wholeNumber(1, 500), 100)
    .description("Prints the last lines of a process.");
  const [name = ""] = parse(cut, parser).args;
  const path = `/logs?name=${encodeURIComponent(name)}`;
  const body = await ask(await holderOf(parser), "GET", path, clock);
  const { lines } = parser.opts<{ readonly lines: number }>();
  for (const line of (JSON.parse(body) as string[]).slice(-lines))
    process.stdout.write(`${printable(line)}\n`);
  return EXIT.ok;
}
