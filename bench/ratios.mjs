// The ratios of the last run that was kept, by machine, and what a run is beside them: ratios.json.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("ratios.json", import.meta.url);

/** Runs of `--keep`, the newest first: `{ date, machine, versions, services, ratios }`. A claim is in one of a machine. */
export const keptRuns = () => JSON.parse(readFileSync(FILE, "utf8"));

export const writeRuns = (runs) => writeFileSync(FILE, `${JSON.stringify(runs, undefined, 2)}\n`);

/** Machines of one kind give the same ratios: the engine decides them as the processor does. */
export const kindOf = ({ cpu, cores, platform, node }) =>
  `${cpu}, ${cores} cores, ${platform.split(" ")[0]}, Node ${/\d+/.exec(node)?.[0]}`;

/** @returns the runs with a new one. The older ones of its machine lose its claims, and all lose those that are gone */
export function keep(runs, run, claims) {
  const isKept = (machine, says) =>
    claims.includes(says) && (machine !== run.machine || run.ratios[says] === undefined);
  const older = runs.map(({ machine, ratios, ...rest }) => {
    const left = Object.entries(ratios).filter(([says]) => isKept(machine, says));
    return { ...rest, machine, ratios: Object.fromEntries(left) };
  });
  return [run, ...older].filter(({ ratios }) => Object.keys(ratios).length > 0);
}

/** What has another version than in the kept runs of a machine: the first thing to look at when a claim is worse. */
export const changedSince = (runs, { machine, versions }) =>
  runs
    .filter((run) => run.machine === machine)
    .flatMap((run) =>
      Object.entries(versions)
        .filter(([name, version]) => version !== run.versions[name])
        .map(([name, version]) => `${name} ${run.versions[name]} (${run.date}) to ${version}`),
    );

/** The claims about CPU that were measured, as `--keep` writes them. */
export const ratiosOf = (verdicts) =>
  Object.fromEntries(
    verdicts
      .filter(({ isCpu, measured }) => isCpu && Number.isFinite(measured))
      .map(({ says, measured }) => [says, Number(measured.toPrecision(3))]),
  );

/** By how much a ratio may get worse. Noise is below, between two runs of one machine. */
const TOLERANCE = 1.2;

/**
 * A run beside the kept ones of its machine, claim by claim. A claim is `worse` by more than a fifth in two runs,
 * `not kept` yet, `not measured` though it is kept, or `gone` though it is kept.
 *
 * @param again - measures claims a second time, and resolves to their verdicts
 */
export async function compare(runs, { machine, only, verdicts, again }) {
  const kept = new Map(
    runs
      .filter((run) => run.machine === machine)
      .flatMap(({ date, ratios }) =>
        Object.entries(ratios).map(([says, ratio]) => [says, { kept: ratio, date }]),
      ),
  );
  const claims = verdicts.filter(({ isCpu }) => isCpu);
  const asked = claims
    .filter(({ reads }) => reads.every(({ suite }) => only.includes(suite)))
    .map((claim) => ({ ...claim, ...kept.get(claim.says) }));
  const worse = asked.filter((claim) => stateOf(claim) === "worse");
  const second = worse.length > 0 ? await again(worse) : [];
  const compared = asked.map((claim) => {
    if (!worse.includes(claim)) return { ...claim, state: stateOf(claim) };
    const { measured } = second.find(({ says }) => says === claim.says);
    return { ...claim, again: measured, state: stateOf({ ...claim, measured }) };
  });
  const gone = [...kept].filter(([says]) => !claims.some((claim) => claim.says === says));
  return [...compared, ...gone.map(([says, each]) => ({ says, ...each, state: "gone" }))];
}

function stateOf({ kept, most, measured }) {
  if (kept === undefined) return "not kept";
  if (!Number.isFinite(measured)) return "not measured";
  const worse = most === undefined ? kept / measured : measured / kept;
  return worse > TOLERANCE ? "worse" : "held";
}
