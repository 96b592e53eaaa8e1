import { number, table } from "./table.mjs";

/** Everything that was measured, as text. */
export function report(facts) {
  const { verdicts, machine, versions, services, loads, suites, options, comparison } = facts;
  const lines = [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}`,
    `Node ${machine.node} (V8 ${machine.v8}); load average ${loads.map((l) => l.toFixed(1)).join(" to ")}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    ...services,
    `CPU time, unless a column says wall; median of ${options.rounds} rounds, of each process the best sample (its median in brackets)`,
  ];
  for (const suite of suites.filter(({ id }) => options.only.includes(id))) {
    lines.push("", `${suite.id}. ${suite.title}`);
    for (const kase of suite.cases) lines.push(...caseLines(suite, kase, facts));
  }
  if (options.quick)
    lines.push("", "--quick: one round at small sizes. Do not quote these figures.");
  else if (comparison !== undefined) lines.push("", ...comparisonLines(comparison));
  else lines.push("", ...verdictLines(verdicts, options.only.length === suites.length));
  return lines.join("\n");
}

function caseLines(suite, kase, { results, skipped, options }) {
  const mine = (job) => job.suite === suite.id && job.case === kase.id;
  const sizes = [...new Set([...results, ...skipped].filter(mine).map(({ size }) => size))];
  return sizes.flatMap((size) => {
    const group = results.filter((result) => mine(result) && result.size === size);
    const left = skipped.filter((job) => mine(job) && job.size === size);
    const figures = [...new Set(group.flatMap((result) => Object.keys(result.figures)))];
    const base = group[0]?.figures ?? {};
    const header = [`${kase.title}, ${size.toLocaleString("en-US")} ${kase.unit}`];
    if (kase.rounds < options.rounds) header[0] += `, rounds: ${kase.rounds}`;
    const rows = group.map((result) => [
      result.contender,
      ...figures.flatMap((name) => cells(result.figures[name], base[name])),
    ]);
    return [
      "",
      ...table([...header, ...figures.flatMap((name) => [name, "ratio"])], rows),
      ...group.flatMap(({ contender, error }) =>
        error === undefined ? [] : [`${contender} failed: ${error}`],
      ),
      ...left.map(({ contender, because }) => `${contender} left out at this size: ${because}`),
    ];
  });
}

function cells(figure, base) {
  if (figure === undefined) return ["-", "-"];
  const { best, p50 } = figure;
  const shown = best === p50 ? number(best) : `${number(best)} (${number(p50)})`;
  return [shown, base === undefined ? "-" : `${number(best / base.best)}x`];
}

/** A run of some suites says nothing of the others. */
function verdictLines(verdicts, isWhole) {
  const wanted = ({ most, least }) => {
    if (most !== undefined) return `at most ${number(most)}`;
    return least === undefined ? "-" : `at least ${number(least)}`;
  };
  const shown = verdicts.filter(({ verdict }) => isWhole || verdict !== "not measured");
  return table(
    ["claim", "wanted", "measured", "verdict"],
    shown.map((v) => [
      v.says,
      wanted(v),
      number(v.measured),
      v.gates ? `${v.verdict} (gates)` : v.verdict,
    ]),
  );
}

/** A claim that was worse was measured again. */
function comparisonLines(comparison) {
  return table(
    ["claim", "kept", "of", "measured", "again", "now"],
    comparison.map((claim) => [
      claim.says,
      number(claim.kept),
      claim.date ?? "-",
      number(claim.measured),
      number(claim.again),
      claim.state,
    ]),
  );
}
