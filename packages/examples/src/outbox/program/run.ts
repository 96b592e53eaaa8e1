import { writeFileSync } from "node:fs";
import pc from "picocolors";
import { ending } from "../../terminal/ending.ts";
import type { Host } from "../../terminal/host.ts";
import { ProgramDatabase } from "./database/program-database.ts";
import { Delivery } from "./delivery.ts";
import { fileProblem } from "./file-problem.ts";
import { openLock } from "./open-lock.ts";
import type { Progress } from "./progress.ts";
import type { Inbox } from "./receiver/inbox.ts";
import { RabbitInbox } from "./receiver/rabbit-inbox.ts";
import { Receiver } from "./receiver/receiver.ts";
import { serviceProblem } from "./service-problem.ts";
import type { Services, Settings } from "./settings.ts";
import { summaryLines, summaryOf } from "./summary.ts";
import { LiveView } from "./view/live-view.ts";
import { LogView } from "./view/log-view.ts";
import type { View } from "./view/view.ts";

/** After that, in milliseconds, what is not settled never will be. */
const LONGEST = 30 * 60_000;

/** What a run works with. */
export interface RunOptions {
  readonly settings: Settings;
  readonly services: Services;
  readonly host: Host;
}

/**
 * Runs from beginning to summary, and leaves nothing running.
 *
 * @returns the exit code: 0 if all is as it must be, 1 if not, 2 for a server or a file that cannot be
 * used, 128 and more for a signal
 */
export async function run(options: RunOptions): Promise<number> {
  const { settings, services, host } = options;
  const { json = "-" } = settings;
  const problem =
    (json === "-" ? undefined : fileProblem(json)) ?? (await serviceProblem(services));
  if (problem !== undefined) {
    host.stderr.write(`${problem}\n`);
    return 2;
  }
  await using tables = await ProgramDatabase.open(services.databaseUrl);
  return await deliver(tables, settings.seed, options);
}

/**
 * Runs on tables that are there, whatever is in them.
 *
 * @param faults - the seed of the receiver's faults; it has none if undefined
 */
export async function deliver(
  tables: ProgramDatabase,
  faults: number | undefined,
  { settings, services, host }: RunOptions,
): Promise<number> {
  const { clock, stdout } = host;
  let delivery: Delivery | undefined;
  using end = ending(host, { duration: LONGEST, kill: () => delivery?.kill() });
  const { database } = tables;
  await using inbox = await openInbox(services, { database, seed: faults, clock });
  const { redisUrl } = services;
  await using lease = openLock({ database, redisUrl, onError: () => undefined });
  const view = viewOf(settings, host);
  const onProgress = (progress: Progress): void => view.show(progress);
  const parts = { settings, tables, inbox, lock: lease.lock, redisUrl, clock, onProgress };
  delivery = new Delivery(parts);
  const outcome = await delivery.run(end.signal);
  view.close();

  const summary = summaryOf(outcome, settings.seed);
  const json = `${JSON.stringify(summary, null, 2)}\n`;
  if (settings.json === "-") stdout.write(json);
  else stdout.write(`\n${summaryLines(summary, pc).join("\n")}\n`);
  if (settings.json !== undefined && settings.json !== "-") writeFileSync(settings.json, json);
  if (end.signal.aborted) return (await end.request).code || 1;
  return summary.faults.length === 0 ? 0 : 1;
}

async function openInbox(
  { amqpUrl }: Services,
  options: Parameters<typeof Receiver.start>[0],
): Promise<Inbox> {
  if (amqpUrl === undefined) return await Receiver.start(options);
  return await RabbitInbox.start({ ...options, url: amqpUrl });
}

function viewOf({ json }: Settings, { stdout, stderr }: Host): View {
  if (json === "-") return new LogView((text) => stderr.write(text));
  if (stdout.isTTY && process.env["TERM"] !== "dumb")
    return new LiveView({ stream: stdout, colours: pc });
  return new LogView((text) => stdout.write(text));
}
