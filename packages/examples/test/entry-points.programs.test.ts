import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import ts from "typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Program } from "./program.ts";

// inputs-alone.test.ts shows that each program is a function of its clock and its randomness. An entry point hands it those
// of the machine: here each runs in a process that notes which files of the packages ask the machine.

const TIME = "time clock/host/platform";
const FAKE_TIME = "time clock/testing/event-loop";
const CHANCE = "chance wait/delay/random";
const ID = "chance kit/uuid-from";

const OFFLINE = [
  "--import",
  'data:text/javascript,fetch = () => Promise.reject(new Error("offline"))',
];

interface Run {
  readonly args?: (folder: string) => readonly string[];
  /** Whether it ends by itself. The others get SIGTERM when they have asked for all but what comes with the end. */
  readonly ends?: true;
  /** Whether each `fetch` fails: it asks a site of the internet. */
  readonly isOffline?: true;
  /** What asks the machine in each entry point that runs, in alphabetical order. */
  readonly asks: Readonly<Record<string, readonly string[]>>;
  /** What it asks for only when it ends. */
  readonly atEnd?: readonly string[];
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Nothing listens there. */
const NOWHERE = "127.0.0.1:1";
const SERVERS = {
  MYSQL_URL: `mysql://${NOWHERE}/a`,
  AMQP_URL: `amqp://${NOWHERE}`,
  REDIS_URL: `redis://${NOWHERE}`,
};
const KUBECONFIG = JSON.stringify({
  ...{ apiVersion: "v1", kind: "Config", "current-context": "a" },
  contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  clusters: [{ name: "a", cluster: { server: `http://${NOWHERE}` } }],
  users: [{ name: "a", user: {} }],
});
const operator = (entry: string): [string, Run] => [
  entry,
  { asks: { [entry]: [ID, CHANCE, TIME] } },
];

/** By their paths below `packages/NAME/src`. */
const RUNS: Record<string, Run> = {
  "cli/main": {
    args: () => ["retry", "--attempts", "inf", "--delay", "1ms", "--", "false"],
    asks: { "cli/main": ["chance cli/process-group", CHANCE, TIME] },
  },
  "create-operator/main": {
    ends: true,
    args: () => ["--help"],
    asks: { "create-operator/main": [] },
  },
  "examples/dns-sync/main": {
    args: () => ["--records", "3"],
    asks: {
      "examples/dns-sync/main": ["chance examples/dns-sync/page", CHANCE, TIME],
      "examples/dns-sync/replica/main": [ID, CHANCE, TIME],
    },
  },
  "examples/ethernet/main": {
    args: () => ["--minutes", "1", "--json"],
    asks: { "examples/ethernet/main": [FAKE_TIME] },
  },
  "examples/getting-started/get-text.node-test": {
    ends: true,
    asks: { "examples/getting-started/get-text.node-test": [CHANCE, FAKE_TIME] },
  },
  "examples/getting-started/main": {
    isOffline: true,
    asks: { "examples/getting-started/main": [CHANCE, TIME] },
  },
  "examples/grpc-connect/main": {
    ends: true,
    args: () => [
      "--seed",
      "1",
      "--initial",
      "20ms",
      "--hold",
      "50ms",
      "--min-connect-timeout",
      "300ms",
    ],
    asks: { "examples/grpc-connect/main": [TIME] },
  },
  "examples/herd/main": {
    ends: true,
    args: () => ["--outage", "1", "--json"],
    asks: { "examples/herd/main": [FAKE_TIME] },
  },
  "examples/landing/call": { isOffline: true, asks: { "examples/landing/call": [CHANCE, TIME] } },
  "examples/landing/monitor": {
    isOffline: true,
    asks: { "examples/landing/monitor": [CHANCE, TIME] },
    atEnd: [CHANCE],
  },
  "examples/message-table/main": {
    ends: true,
    asks: { "examples/message-table/main": [ID, CHANCE, TIME] },
  },
  "examples/outbox/main": {
    ends: true,
    args: () => ["--orders", "3"],
    asks: { "examples/outbox/main": [ID, CHANCE, TIME] },
  },
  "examples/recipes/main": {
    args: (folder) => ["leader-cron", join(folder, "lock")],
    asks: { "examples/recipes/main": ["chance examples/recipes/recipes", ID, CHANCE, TIME] },
  },
  "fake-apiserver/bin/main": {
    ends: true,
    args: () => ["--help"],
    asks: { "fake-apiserver/bin/main": [] },
  },
  "kubernetes/bin/main": {
    ends: true,
    args: () => ["--help"],
    asks: { "kubernetes/bin/main": [] },
  },
  "outbox/bin/main": {
    ends: true,
    args: () => ["status", "--url", `postgres://${NOWHERE}/a`],
    asks: { "outbox/bin/main": [] },
  },
  ...Object.fromEntries(
    ["cron-task/cron-task", "dns-sync/operator/dns-sync", "greeter/greeter", "website/website"].map(
      (name) => operator(`examples/${name}`),
    ),
  ),
};

/** They run in a browser; what they call is in inputs-alone.test.ts. */
const IN_A_BROWSER = ["examples/playground/page/page", "examples/playground/page/worker"];

/** They fill a table, or listen for the end of their process. */
const NO_PROGRAMS = ["cli/process-group", "cli/system-call", "outbox/webhook/public-address"];

/** Runs an entry point until it has asked for all that it may, or has ended. Returns what it asked for. */
async function asksOf(
  entry: string,
  { args, asks, ends, isOffline, atEnd = [] }: Run,
): Promise<Record<string, string[]>> {
  const folder = tempFolder(onTestFinished);
  const [report, kubeconfig] = [join(folder, "asks"), join(folder, "config")];
  writeFileSync(report, "");
  writeFileSync(kubeconfig, KUBECONFIG);
  const watch = new URL("./machine-asks.mjs", import.meta.url);
  watch.searchParams.set("report", report);
  const main = entry.replace("/", "/dist/");
  await using program = new Program(
    `../../${main}.js`,
    args?.(folder) ?? [],
    ["--import", watch.href, ...(isOffline ? OFFLINE : [])],
    { KUBECONFIG: kubeconfig, PORT: "0", ...SERVERS },
  );
  let hasEnded = false;
  void program.exited.then(() => {
    hasEnded = true;
  });
  const asked = (): Record<string, string[]> => {
    const found: Record<string, string[]> = { [entry]: [] };
    for (const line of new Set(readFileSync(report, "utf8").split("\n").filter(Boolean))) {
      const [by = "", ...what] = line.split(" ");
      found[by] = [...(found[by] ?? []), what.join(" ")].sort();
    }
    return found;
  };
  const isComplete = async (): Promise<boolean> => {
    const found = asked();
    const isThere = ([by, all]: [string, readonly string[]]) =>
      all.every((one) => atEnd.includes(one) || found[by]?.includes(one));
    return hasEnded || (!ends && Object.entries(asks).every(isThere));
  };
  await poll(isComplete, { backoff: { duration: 50 }, clock: realClock });
  program.child.kill("SIGTERM");
  await program.exited;
  return asked();
}

describe("an entry point", () => {
  it.each(Object.entries(RUNS))(
    "asks the machine only through platform files: %s",
    async (entry, run) => {
      expect(await asksOf(entry, run)).toEqual(run.asks);
    },
  );
});

it("runs each entry point of the packages: each file that does something when it is loaded", () => {
  const files = execFileSync("git", ["ls-files", "packages/*/src/*.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  const sources = files.split("\n").filter((file) => /^packages\/[^/]+\/src\//.test(file));
  const acting = sources.filter((file) => acts(join(root, file)));
  const entries = acting.map((file) => file.replace(/^packages\/|(?<=\/)src\/|\.ts$/g, ""));
  const walked = Object.values(RUNS).flatMap(({ asks }) => Object.keys(asks));
  expect(entries).toEqual([...walked, ...IN_A_BROWSER, ...NO_PROGRAMS].sort());
});

/** Whether a module has a statement that is not a declaration. */
function acts(file: string): boolean {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  return source.statements.some(
    (one) =>
      !(
        ts.isImportDeclaration(one) ||
        ts.isExportDeclaration(one) ||
        ts.isInterfaceDeclaration(one) ||
        ts.isTypeAliasDeclaration(one) ||
        ts.isFunctionDeclaration(one) ||
        ts.isClassDeclaration(one) ||
        ts.isVariableStatement(one)
      ),
  );
}
