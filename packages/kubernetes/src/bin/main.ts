#!/usr/bin/env node
import { runCommand } from "./run-command.ts";

const { code, stdout, stderr } = await runCommand(process.argv.slice(2));
// A module that `manifests` has imported may keep the process alive: it ends when the text is written.
if (stderr !== "") process.stderr.write(stderr, () => process.exit(code));
else process.stdout.write(stdout, () => process.exit(code));
