import { realClock } from "@holdfast/clock";
import { parseOptions } from "./options.ts";

const { stdout, stderr } = process;
const parsed = parseOptions(process.argv.slice(2));
if (parsed.kind === "print") {
  (parsed.code === 0 ? stdout : stderr).write(parsed.text);
  process.exitCode = parsed.code;
} else {
  // Not loaded for a usage.
  const { run } = await import("./run.ts");
  process.exitCode = await run(parsed.options, { clock: realClock, stdout });
}
