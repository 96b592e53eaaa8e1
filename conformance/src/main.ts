import { fileURLToPath } from "node:url";
import { replayDirectory, unusedRules } from "./replay.ts";
import { reportLines } from "./report-lines.ts";

const USAGE = `npm run conformance: no arguments. It replays the recordings of the Go packages.
  CONFORMANCE_DIR   names another directory of recordings
  --help`;

const [argument] = process.argv.slice(2);
if (argument === "--help") {
  console.log(USAGE);
  process.exit(0);
}
if (argument !== undefined) {
  console.error(`error: unknown argument '${argument}'\n\n${USAGE}`);
  process.exit(2);
}

const shipped = fileURLToPath(new URL("../data", import.meta.url));
const directory = process.env["CONFORMANCE_DIR"] ?? shipped;

const report = await replayDirectory(directory);
// Other data need not bring out every rule; ours does.
const unused = directory === shipped ? unusedRules(report.sections) : [];
const problems = [...report.problems, ...unused];
console.log(reportLines({ ...report, problems }).join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
