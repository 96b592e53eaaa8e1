import { parseArgs } from "node:util";

export const USAGE = `npm run bench -- [options]
  --only a,c     run these suites only
  --quick        one round at small sizes: shows that everything runs, measures nothing
  --rounds N     how often each contender runs (default 5, with --quick 1)
  --json FILE    also write all measurements
  --keep         keep the ratios of claims about CPU in bench/ratios.json
  --compare      measure those claims only, a second time if one is worse; fail if it is worse by a fifth both times
  --help         show this help`;

export function parseOptions(argv, suiteIds) {
  const { values } = parseArgs({
    args: argv,
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      json: { type: "string" },
      keep: { type: "boolean", default: false },
      compare: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const only = values.only?.split(",") ?? suiteIds;
  const unknown = only.filter((id) => !suiteIds.includes(id));
  if (unknown.length > 0)
    throw new RangeError(`--only takes ${suiteIds.join(", ")}, got ${unknown.join(", ")}`);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new RangeError(`--rounds takes a whole number of at least 1, got ${values.rounds}`);
  const { quick, keep, compare, json, help } = values;
  if (Number(quick) + Number(keep) + Number(compare) > 1)
    throw new RangeError("--quick, --keep and --compare exclude one another: pass one of them");
  return { only, rounds, quick, keep, compare, json, help };
}
