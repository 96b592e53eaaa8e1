import { realClock } from "@holdfast/clock";
import type { DatabaseName } from "./database/dialect.ts";
import { discard, list, replay } from "./dead-letters.ts";
import { parseOptions } from "./options.ts";
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
  case "dead-letters":
    process.exitCode = await list({ services: servicesFor(parsed.database), host });
    break;
  case "replay":
  case "discard": {
    const act = parsed.kind === "replay" ? replay : discard;
    const services = servicesFor(parsed.database);
    process.exitCode = await act({ ids: parsed.ids, services, host });
    break;
  }
}
