#!/usr/bin/env bash
# Package: execa 10.2.1
# Guess: with `shell: true`, a `timeout` of 0.5 s rejects after 0.5 s and leaves the program of the shell behind.
# Seen: it ends the shell, and rejects only when the program that is left behind closes its output: here after 4 s.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages execa@10.2.1
observe <<'JS'
import { execa } from "execa";
import { seconds } from "./kit.mjs";

for (const [name, command] of [["shell, then a program", "sleep 4; true"], ["program only", "exec sleep 4"]]) {
  const begin = performance.now();
  const error = await execa(command, { shell: true, timeout: 500 }).catch((reason) => reason);
  const time = seconds(performance.now() - begin);
  console.log(`${name}: timed out ${error.timedOut}, ${error.signal}, rejected after ${time} s`);
}
JS
expect <<'TEXT'
shell, then a program: timed out true, SIGTERM, rejected after 4 s
program only: timed out true, SIGTERM, rejected after 0.5 s
TEXT
