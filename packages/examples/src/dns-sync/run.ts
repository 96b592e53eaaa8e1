import { seededRandom } from "@holdfast/wait";
import { formatElapsed } from "../terminal/duration.ts";
import { type Ending, ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import { openCluster } from "./harness/api/cluster-api.ts";
import { startFakeApi } from "./harness/api/fake-api.ts";
import type { HarnessApi } from "./harness/api/harness-api.ts";
import { startRealServer } from "./harness/api/real-api.ts";
import { Baseline } from "./harness/baseline/baseline.ts";
import { Faults } from "./harness/faults.ts";
import { Harness } from "./harness/harness.ts";
import { play } from "./harness/play.ts";
import { Soak } from "./harness/soak.ts";
import type { Settings } from "./options.ts";
import { baselineText, problemsOf, summaryLines, summaryOf } from "./summary.ts";
import { openPage } from "./web/open-page.ts";

const USAGE_ERROR = 2;

/** The replica that survives a soak. */
const SPARED = "replica-1.1";

/**
 * Runs the program up to its summary. No child process or server outlives the call.
 *
 * @returns the exit code: 0 if every invariant held; 1 if one was broken or, in a check, never checked; 2 if the API
 * server is unavailable or the port is taken; 128 or more if a signal ended a check
 */
export async function run(settings: Settings, host: Host): Promise<number> {
  const { clock, stderr } = host;
  let kill = (): void => undefined;
  using end = ending(host, { duration: Number.POSITIVE_INFINITY, kill: () => kill() });
  let api: HarnessApi;
  try {
    api = await openApi(settings.api, host, end.signal);
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`);
    return USAGE_ERROR;
  }
  await using _ = api;
  const random = seededRandom(settings.seed);
  await using harness = await Harness.open({ api, clock, random });
  kill = () => harness.kill();
  try {
    return await runOn(harness, { settings, host, end });
  } catch (error) {
    if (end.signal.aborted) return (await end.request).code;
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    stderr.write(`port ${settings.port} is taken: choose another with --port\n`);
    return USAGE_ERROR;
  }
}

async function openApi(
  kind: Settings["api"],
  { clock }: Host,
  signal: AbortSignal,
): Promise<HarnessApi> {
  if (kind === "real") return await startRealServer(signal);
  return kind === "cluster" ? await openCluster() : await startFakeApi(clock);
}

interface RunOnOptions {
  readonly settings: Settings;
  readonly host: Host;
  readonly end: Ending;
}

async function runOn(harness: Harness, { settings, host, end }: RunOnOptions): Promise<number> {
  const { clock, log, api } = harness;
  const { mode, seed, records, port } = settings;
  const begin = clock.monotonic();
  const print = (lines: readonly string[]): void => void host.stdout.write(`${lines.join("\n")}\n`);
  log.onEntry(({ name, text }) =>
    print([`${formatElapsed(clock.monotonic() - begin)}  ${name}: ${text}`]),
  );
  const spared = mode === "soak" ? SPARED : undefined;
  const faults = new Faults(harness, { signal: end.signal, spared });
  await harness.start(records);
  await using baseline = await Baseline.open(harness);
  await using page = await openPage({ harness, faults, baseline, port });
  print([`the page: ${page.url}`, `kubectl ${api.kubectl} get dnsrecords`]);
  const soak = new Soak(harness, SPARED);
  const trouble = await troubleOf(play({ harness, faults, soak, settings }), end.signal);
  const fate = baselineText(baseline);
  const isInterrupted = mode === "page" || end.signal.aborted;
  // The harness's objects in an existing cluster are deleted even after an interruption.
  if (!isInterrupted || api.control === undefined) await harness.clear();
  await harness.stopReplicas();
  const summary = summaryOf({ seed, begin, harness, faults, fate });
  const isCheck = mode !== "page";
  const grown = mode === "soak" ? soak.problems() : [];
  const problems = [...problemsOf(summary, isCheck), ...grown, ...trouble];
  const usage = mode === "soak" ? ["", ...soak.lines()] : [];
  print(["", ...summaryLines(summary, problems), ...usage]);
  if (isCheck && end.signal.aborted) return (await end.request).code;
  return problems.length === 0 ? 0 : 1;
}

/** @returns the failure of a run; empty if it completed or was aborted */
async function troubleOf(course: Promise<void>, signal: AbortSignal): Promise<readonly string[]> {
  try {
    await course;
    return [];
  } catch (error) {
    return signal.aborted ? [] : [`the run failed: ${String(error)}`];
  }
}
