import { realClock } from "@holdfast/clock";
import type { DatabaseName } from "./database/dialect.ts";
import { parseOptions } from "./options.ts";
import { replay } from "./replay.ts";
import { run } from "./run.ts";
import { type Services, servicesOf } from "./settings.ts";

const { stdout, stderr } = process;
const host = { clock: realClock, stdout, stderr };
const parsed = parseOptions(process.argv.slice(2));
const servicesFor = (database: DatabaseName | undefined): Services =>
  servicesOf(process.env, database);
switch (parsed.kind) {
  case "print":
    (parsed.code === 0 ? stdout : stderr).write(parsed.text);
    process.exitCode = parsed.code;
    break;
  case "run":
    process.exitCode = await run({
      settings: parsed.settings,
      services: servicesFor(parsed.database),
      host,
    });
    break;
  case "replay":
    process.exitCode = await replay({
      ids: parsed.ids,
      services: servicesFor(parsed.database),
      host,
    });
    break;
}
