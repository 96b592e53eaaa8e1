import { realClock } from "@holdfast/clock";
import { parseOptions } from "./options.ts";
import { run } from "./run.ts";

const { stdout, stderr } = process;
const parsed = parseOptions(process.argv.slice(2));
if (parsed.kind === "run")
  process.exitCode = await run(parsed.settings, { clock: realClock, stdout, stderr });
else {
  (parsed.code === 0 ? stdout : stderr).write(parsed.text);
  process.exitCode = parsed.code;
}
