import { writeFileSync } from "node:fs";
import pc from "picocolors";
import { type Ending, ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import { ProgramDatabase } from "./database/program-database.ts";
import { Delivery, type Outcome } from "./delivery.ts";
import { fileProblem } from "./file-problem.ts";
import { LogView } from "./log-view.ts";
import { openLock } from "./open-lock.ts";
import type { Inbox } from "./receiver/inbox.ts";
import { RabbitInbox } from "./receiver/rabbit-inbox.ts";
import { Receiver, type ReceiverOptions } from "./receiver/receiver.ts";
import { serviceProblem } from "./service-problem.ts";
import type { Services, Settings } from "./settings.ts";
import { type Summary, summaryLines, summaryOf } from "./summary.ts";
import { Board } from "./web/board.ts";
import { openPage } from "./web/open-page.ts";

/** The time limit of a run, in milliseconds. A message not settled by then is stuck. */
const LONGEST = 30 * 60_000;

const USAGE_ERROR = 2;

/** Options for {@link run}. */
export interface RunOptions {
  readonly settings: Settings;
  readonly services: Services;
  readonly host: Host;
}

/** Options for {@link deliver}. */
export interface DeliverOptions extends RunOptions {
  readonly tables: ProgramDatabase;
  /** The seed of the receiver's faults; undefined for none. */
  readonly faults: number | undefined;
  readonly end: RunEnd;
}

/** The end of a run, from outside. */
export interface RunEnd extends Ending {
  /** Aborts at the second stop signal. */
  readonly killed: AbortSignal;
}

/** Watches for the end of a run from its very beginning: the database takes seconds to start. */
export function endOf({ settings, host }: Pick<RunOptions, "settings" | "host">): RunEnd {
  const kill = new AbortController();
  const duration = settings.keep ? Number.POSITIVE_INFINITY : LONGEST;
  return { ...ending(host, { duration, kill: () => kill.abort() }), killed: kill.signal };
}

/**
 * Runs from beginning to summary, and leaves nothing running.
 *
 * @returns the exit code: 0 if all checks passed, 1 if not, 2 for a server, a port or a file that
 * cannot be used, 128 and more for a signal before all was settled
 */
export async function run(options: RunOptions): Promise<number> {
  const { settings, services, host } = options;
  const { json = "-" } = settings;
  const problem =
    (json === "-" ? undefined : fileProblem(json)) ?? (await serviceProblem(services));
  if (problem !== undefined) {
    host.stderr.write(`${problem}\n`);
    return USAGE_ERROR;
  }
  using end = endOf(options);
  const output = settings.json === "-" ? host.stderr : host.stdout;
  if (services.database === "pglite") output.write("Starting PGlite; this takes a few seconds.\n");
  await using tables = await ProgramDatabase.open(services);
  return await deliver({ ...options, tables, faults: settings.seed, end });
}

/** Runs on tables that are there, with any content. */
export async function deliver(options: DeliverOptions): Promise<number> {
  const { settings, host, end } = options;
  let outcome: Outcome;
  try {
    outcome = await outcomeOf(options);
  } catch (error) {
    return reportFailure(error as Error, options);
  }
  const summary = summaryOf(outcome, settings.seed);
  print(summary, settings.json, host);
  if (!outcome.isSettled && end.signal.aborted) return (await end.request).code || 1;
  return summary.faults.length === 0 ? 0 : 1;
}

/** @returns the exit code */
function reportFailure(
  { code, message }: NodeJS.ErrnoException,
  { settings, host }: RunOptions,
): number {
  if (code === "EADDRINUSE") {
    host.stderr.write(`port ${settings.port} is taken: choose another with --port\n`);
    return USAGE_ERROR;
  }
  host.stderr.write(`The run failed: ${message}\n`);
  return 1;
}

function print(summary: Summary, file: string | undefined, { stdout }: Host): void {
  const json = `${JSON.stringify(summary, null, 2)}\n`;
  if (file === "-") stdout.write(json);
  else stdout.write(`\n${summaryLines(summary, pc).join("\n")}\n`);
  if (file !== undefined && file !== "-") writeFileSync(file, json);
}

async function outcomeOf(options: DeliverOptions): Promise<Outcome> {
  const { settings, services, host, tables, faults, end } = options;
  const { clock } = host;
  const { redisUrl } = services;
  const apply = (id: string): Promise<boolean> => tables.apply(id);
  await using inbox = await openInbox(services, { apply, seed: faults, clock });
  await using lease = openLock(tables.lock, redisUrl, () => undefined);
  const board = new Board({ clock, tables, inbox });
  let view: LogView | undefined;
  const delivery = new Delivery({
    settings,
    tables,
    inbox,
    lock: lease.lock,
    redisUrl,
    clock,
    onProgress: (progress) => {
      view?.show(progress);
      board.show(progress);
    },
    onNews: (text, worker) => board.log(text, worker),
  });
  await using page = await openPage(settings.port, { clock, board, delivery, tables, inbox });
  const output = settings.json === "-" ? host.stderr : host.stdout;
  view = new LogView((text) => output.write(text), page?.url);
  return await delivery.run(end.signal, end.killed);
}

async function openInbox({ amqpUrl }: Services, options: ReceiverOptions): Promise<Inbox> {
  if (amqpUrl === undefined) return await Receiver.start(options);
  return await RabbitInbox.start({ ...options, url: amqpUrl });
}
