#!/usr/bin/env node
import { main } from "@holdfast/kit/node";
import { runCommand } from "./run-command.ts";

await main(runCommand);
