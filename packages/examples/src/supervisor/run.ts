import type { Statuses } from "./core/status.ts";
import { Supervisor } from "./core/supervisor.ts";
import { ending } from "./ending.ts";
import type { Host } from "./host.ts";
import { freePort } from "./machine/free-port.ts";
import { httpProbe } from "./machine/http-probe.ts";
import { ProcessLogs } from "./machine/process-logs.ts";
import { RealProcessTable } from "./machine/real-process-table.ts";
import { formatManifestErrorWithSource } from "./manifest/manifest-error.ts";
import { type ReadManifest, readManifest } from "./manifest/read-manifest.ts";
import { manifestSource } from "./manifest-source.ts";
import type { Options } from "./options.ts";
import { LiveView } from "./view/live-view.ts";
import { LogView } from "./view/log-view.ts";
import { createPalette } from "./view/palette.ts";
import { summaryLines } from "./view/summary.ts";
import type { View } from "./view/view.ts";

const USAGE_ERROR = 2;
const WIDTH_OF_A_FILE = 100;

function firstManifestProblem(read: ReadManifest & { ok: false }): string {
  const what =
    "errors" in read ? read.errors.map(formatManifestErrorWithSource).join("\n") : read.message;
  return `${what}\nNothing was started.\n`;
}

function createView({ file, duration }: Options, { clock, stdout }: Host, start: number): View {
  const palette = createPalette();
  if (stdout.isTTY && process.env["TERM"] !== "dumb")
    return new LiveView({ clock, stream: stdout, palette, file, start, duration });
  return new LogView({ write: (text) => stdout.write(text), palette, start });
}

/**
 * Runs a manifest from start to summary.
 *
 * @returns the exit code: 0 for an end as planned, 2 for a manifest that cannot be used, 128 and
 * more for a signal that came before the planned end
 */
export async function run(options: Options, host: Host): Promise<number> {
  const { file, duration, logs, grace } = options;
  const { clock, stdout, stderr } = host;
  const first = readManifest(file);
  if (!first.ok) {
    stderr.write(firstManifestProblem(first));
    return USAGE_ERROR;
  }

  const start = clock.monotonic();
  const table = new RealProcessTable(new ProcessLogs(logs));
  const view = createView(options, host, start);
  let statuses: Statuses = new Map();
  const supervisor = new Supervisor({
    file,
    manifests: manifestSource(file),
    machine: { clock, table, probe: httpProbe, freePort },
    report: (event, now) => {
      statuses = now;
      view.show(event, now);
    },
    grace,
  });

  using end = ending(host, { duration, kill: () => table.killAll() });
  await supervisor.run(end.signal);
  view.close();

  const elapsed = clock.monotonic() - start;
  const room = stdout.columns ?? WIDTH_OF_A_FILE;
  const summary = { elapsed, left: table.alive().length, room, palette: createPalette() };
  stdout.write(`\n${summaryLines(statuses, summary).join("\n")}\n`);
  return duration === Number.POSITIVE_INFINITY ? 0 : (await end.request).code;
}
