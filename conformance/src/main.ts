import { fileURLToPath } from "node:url";
import { replayDirectory, unusedRules } from "./replay.ts";
import { reportLines } from "./report-lines.ts";

const shipped = fileURLToPath(new URL("../data", import.meta.url));
const directory = process.env["CONFORMANCE_DIR"] ?? shipped;

const report = await replayDirectory(directory);
// Other data need not bring out every rule; ours does.
const unused = directory === shipped ? unusedRules(report.sections) : [];
const problems = [...report.problems, ...unused];
console.log(reportLines({ ...report, problems }).join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
