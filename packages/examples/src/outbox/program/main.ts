import { realClock } from "@holdfast/clock";
import { parseOptions } from "./options.ts";
import { replay } from "./replay.ts";
import { run } from "./run.ts";
import { servicesOf } from "./settings.ts";

const { stdout, stderr } = process;
const services = servicesOf(process.env);
const parsed = parseOptions(process.argv.slice(2));
switch (parsed.kind) {
  case "print":
    (parsed.code === 0 ? stdout : stderr).write(parsed.text);
    process.exitCode = parsed.code;
    break;
  case "run":
    process.exitCode = await run(parsed.settings, services, { clock: realClock, stdout, stderr });
    break;
  case "replay":
    process.exitCode = await replayDead(parsed.ids);
    break;
}

async function replayDead(ids: readonly string[] | undefined): Promise<number> {
  const { databaseUrl } = services;
  if (databaseUrl === undefined) {
    stderr.write("DATABASE_URL must say where the messages are.\n");
    return 2;
  }
  const count = await replay({ ids, databaseUrl, clock: realClock });
  stdout.write(`${count} dead ${count === 1 ? "message is" : "messages are"} pending again.\n`);
  return 0;
}
