import { seededRandom } from "@holdfast/wait";
import { formatElapsed } from "../terminal/duration.ts";
import { type Ending, ending } from "../terminal/ending.ts";
import type { Host } from "../terminal/host.ts";
import type { Settings } from "./options.ts";
import { openCluster } from "./stage/api/cluster-api.ts";
import { startDouble } from "./stage/api/double-api.ts";
import { startRealServer } from "./stage/api/real-api.ts";
import type { StageApi } from "./stage/api/stage-api.ts";
import { Faults } from "./stage/faults.ts";
import { NaiveLane } from "./stage/naive/naive-lane.ts";
import { play } from "./stage/play.ts";
import { Soak } from "./stage/soak.ts";
import { Stage } from "./stage/stage.ts";
import { naiveText, problemsOf, summaryLines, summaryOf } from "./summary.ts";
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
  let api: StageApi;
  try {
    api = await openApi(settings.api, host, end.signal);
  } catch (error) {
    stderr.write(`${(error as Error).message}\n`);
    return USAGE_ERROR;
  }
  await using _ = api;
  const random = seededRandom(settings.seed);
  await using stage = await Stage.open({ api, clock, random });
  kill = () => stage.kill();
  try {
    return await runOn(stage, { settings, host, end });
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
): Promise<StageApi> {
  if (kind === "real") return await startRealServer(signal);
  return kind === "cluster" ? await openCluster() : await startDouble(clock);
}

interface RunOnOptions {
  readonly settings: Settings;
  readonly host: Host;
  readonly end: Ending;
}

async function runOn(stage: Stage, { settings, host, end }: RunOnOptions): Promise<number> {
  const { clock, chronicle, api } = stage;
  const { mode, seed, records, port } = settings;
  const begin = clock.monotonic();
  const print = (lines: readonly string[]): void => void host.stdout.write(`${lines.join("\n")}\n`);
  chronicle.onEntry(({ name, text }) =>
    print([`${formatElapsed(clock.monotonic() - begin)}  ${name}: ${text}`]),
  );
  const spared = mode === "soak" ? SPARED : undefined;
  const faults = new Faults(stage, { signal: end.signal, spared });
  await stage.start(records);
  await using naive = await NaiveLane.open(stage);
  await using page = await openPage({ stage, faults, naive, port });
  print([`the page: ${page.url}`, `kubectl ${api.kubectl} get dnsrecords`]);
  const soak = new Soak(stage, SPARED);
  const trouble = await troubleOf(play({ stage, faults, soak, settings }), end.signal);
  const fate = naiveText(naive);
  const isInterrupted = mode === "page" || end.signal.aborted;
  // The stage's objects in an existing cluster are deleted even after an interruption.
  if (!isInterrupted || api.control === undefined) await stage.clear();
  await stage.stopCrew();
  const summary = summaryOf({ seed, begin, stage, faults, fate });
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
