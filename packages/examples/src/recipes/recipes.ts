import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { realClock } from "@holdfast/clock";
import { FileLock } from "@holdfast/controller/file-lock";
import { crawl } from "./crawl.ts";
import { fetchWithRetryAfter } from "./fetch-with-retry-after.ts";
import { followLines } from "./follow-lines.ts";
import { leaderCron } from "./leader-cron.ts";
import { listenToDatabase } from "./listen-to-database.ts";
import { mirrorDirectory } from "./mirror-directory.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

/** Runs a recipe with the arguments of the command line. */
export type Recipe = (signal: AbortSignal, ...args: string[]) => Promise<unknown>;

/** The recipes by name and arguments, as the usage shows them. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  "fetch-with-retry-after URL": async (signal, url: string) =>
    console.log(await fetchWithRetryAfter(url, { signal })),

  "listen-to-database URL CHANNEL": (signal, url: string, channel: string) =>
    listenToDatabase(url, channel, { signal }),

  "mirror-directory SOURCE TARGET": (signal, source: string, target: string) =>
    mirrorDirectory(source, target, { signal }),

  "leader-cron LOCK-DIRECTORY": (signal, directory: string) => {
    const lock = new FileLock(directory);
    const identity = `${hostname()} ${randomUUID()}`; // the number of a process is 1 in every container
    const job = (): void => console.log(`${new Date(realClock.now()).toISOString()}  ${identity}`);
    return leaderCron(job, { lock, identity, interval: 5_000, signal });
  },

  "crawl URL": (signal, url: string) => crawl(url, { signal }),

  "follow-lines URL": (signal, url: string) => followLines(url, { signal }).forEach(console.log),

  "wait-until-ready URL": (signal, url: string) => waitUntilReady(url, { signal }),
};
