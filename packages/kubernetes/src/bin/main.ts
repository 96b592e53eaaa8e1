#!/usr/bin/env node
import { end } from "./command.ts";
import { runCommand } from "./run-command.ts";

end(await runCommand(process.argv.slice(2)));
