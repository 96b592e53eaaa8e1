#!/usr/bin/env bash
# Package: nodemon 3.1.14
# Guess: a SIGTERM to nodemon is one SIGTERM for the program.
# Seen: the program gets SIGTERM, then SIGINT twice within milliseconds. One that ends at once at the second signal, as
# many do, never stops gracefully under nodemon.
. "$(dirname "$0")/lib.sh"
packages nodemon@3.1.14
listener
observe <<'JS'
import { relay } from "./relay.mjs";

await relay("nodemon", "nodemon", "--quiet", "server.mjs");
process.exit();
JS
expect <<'TEXT'
nodemon: code 143; program: SIGTERM SIGINT SIGINT, ended before
TEXT
