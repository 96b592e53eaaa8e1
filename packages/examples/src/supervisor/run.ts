import { directoryProblem } from "../terminal/directory-problem.ts";
import { ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import type { WebServer } from "../web/serve-page.ts";
import { formatManifestErrorWithSource } from "./manifest/manifest-error.ts";
import { type ReadManifest, readManifest } from "./manifest/read-manifest.ts";
import type { Options } from "./options.ts";
import { Program } from "./program.ts";
import { candidate } from "./replica/candidate.ts";
import type { Role } from "./replica/role.ts";
import { team } from "./replica/team.ts";
import { LiveView } from "./view/live-view.ts";
import { LogView } from "./view/log-view.ts";
import { createPalette } from "./view/palette.ts";
import { summaryLines } from "./view/summary.ts";
import type { View } from "./view/view.ts";
import { serve } from "./web/serve.ts";

const USAGE_ERROR = 2;
const WIDTH_OF_A_FILE = 100;

function firstManifestProblem(read: ReadManifest & { ok: false }): string {
  const what =
    "errors" in read ? read.errors.map(formatManifestErrorWithSource).join("\n") : read.message;
  return `${what}\nNothing was started.\n`;
}

/** The reason why a directory of the command line cannot be used. Creates missing directories. */
function firstDirectoryProblem({ logs, lock }: Options): string | undefined {
  for (const [option, directory] of Object.entries({ logs, lock })) {
    const problem = directory === undefined ? undefined : directoryProblem(directory);
    if (problem !== undefined) return `${directory} ${problem}: choose another with --${option}\n`;
  }
  return undefined;
}

function createView({ file, duration }: Options, { clock, stdout }: Host, start: number): View {
  const palette = createPalette();
  if (stdout.isTTY && process.env["TERM"] !== "dumb")
    return new LiveView({ clock, stream: stdout, palette, file, start, duration });
  return new LogView({ write: (text) => stdout.write(text), palette, start });
}

/** The role that the command line asks for. */
async function roleOf(program: Program): Promise<Role> {
  const { replicas, lock } = program.options;
  if (replicas !== undefined) return await team(replicas, program);
  if (lock !== undefined) return candidate(lock, program);
  const { board } = program;
  return { status: board, alive: [board.alive], run: (signal) => program.supervise(signal) };
}

/** Serves the page of a role, if one is wanted. */
async function openPage(program: Program, { status, alive }: Role): Promise<WebServer | undefined> {
  const { options, clock, register, board } = program;
  const { port } = options;
  if (port === undefined) return undefined;
  const server = await serve({ clock, port, status, register, alive, ready: [board.ready] });
  program.tell({ type: "serving", url: server.url });
  return server;
}

/**
 * Runs a manifest from start to summary.
 *
 * @returns the exit code: 0 for an end as planned, 2 for a manifest, a directory or a port that
 * cannot be used, 128 and more for a signal that came before the planned end
 */
export async function run(options: Options, host: Host): Promise<number> {
  const { file, duration, port } = options;
  const { clock, stdout, stderr } = host;
  const first = readManifest(file);
  if (!first.ok) {
    stderr.write(firstManifestProblem(first));
    return USAGE_ERROR;
  }
  const problem = firstDirectoryProblem(options);
  if (problem !== undefined) {
    stderr.write(problem);
    return USAGE_ERROR;
  }

  const start = clock.monotonic();
  const view = createView(options, host, start);
  const program = new Program({ options, manifest: first.manifest, clock, view });
  const { table } = program;
  using end = ending(host, { duration, kill: () => table.killAll() });
  try {
    const role = await roleOf(program);
    await using _page = await openPage(program, role);
    await role.run(end.signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    stderr.write(`port ${port} is taken: choose another with --port\n`);
    return USAGE_ERROR;
  } finally {
    view.close();
  }

  const elapsed = clock.monotonic() - start;
  const room = stdout.columns ?? WIDTH_OF_A_FILE;
  const summary = { elapsed, left: table.alive().length, room, palette: createPalette() };
  stdout.write(`\n${summaryLines(program.statuses, summary).join("\n")}\n`);
  return duration === Number.POSITIVE_INFINITY ? 0 : (await end.request).code;
}
