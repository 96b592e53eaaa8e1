#!/usr/bin/env node
import { end } from "@holdfast/kit/node";
import { runCommand } from "./run-command.ts";

end(await runCommand(process.argv.slice(2)));
