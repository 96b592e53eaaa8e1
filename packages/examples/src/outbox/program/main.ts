import { realClock } from "@holdfast/clock";
import { parseOptions } from "./options.ts";
import { replay } from "./replay.ts";
import { run } from "./run.ts";
import { servicesOf } from "./settings.ts";

const { stdout, stderr } = process;
const host = { clock: realClock, stdout, stderr };
const services = servicesOf(process.env);
const parsed = parseOptions(process.argv.slice(2));
switch (parsed.kind) {
  case "print":
    (parsed.code === 0 ? stdout : stderr).write(parsed.text);
    process.exitCode = parsed.code;
    break;
  case "run":
    process.exitCode = await run({ settings: parsed.settings, services, host });
    break;
  case "replay":
    process.exitCode = await replay({ ids: parsed.ids, services, host });
    break;
}
