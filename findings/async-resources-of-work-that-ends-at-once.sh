#!/usr/bin/env bash
# Package: node:async_hooks of Node 20.20.2, 24.21.0 and 26.10.0
# Guess: a function that returns its result at once makes no async resource, so an `init` hook sees only what a program can
# wait for.
# Seen: gzipSync, pbkdf2Sync, hkdfSync, generateKeyPairSync, randomBytes without a callback, the one-shot sign and the first
# randomUUID make the resource that their asynchronous twins make, and no `before` ever follows. The first console.log opens
# the stream of its pipe. readFileSync, execFileSync and createHash make none.
. "$(dirname "$0")/lib.sh"
cat >hooks.mjs <<'JS'
import { createHook } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import zlib from "node:zlib";

const { privateKey } = crypto.generateKeyPairSync("ed25519");
const ways = {
  "console.log": () => console.log("said"),
  "gzipSync": () => zlib.gzipSync("text"),
  "pbkdf2Sync": () => crypto.pbkdf2Sync("text", "salt", 1, 8, "sha256"),
  "hkdfSync": () => crypto.hkdfSync("sha256", "key", "salt", "info", 8),
  "generateKeyPairSync": () => crypto.generateKeyPairSync("ed25519"),
  "randomBytes": () => crypto.randomBytes(8),
  "randomUUID": () => crypto.randomUUID(),
  "sign": () => crypto.sign(null, Buffer.from("text"), privateKey),
  "createHash": () => crypto.createHash("sha256").update("text").digest(),
  "readFileSync": () => fs.readFileSync(process.execPath, { flag: "r" }).length,
  "execFileSync": () => execFileSync(process.execPath, ["--version"], { stdio: ["ignore", "pipe", "ignore"] }),
};
let made = [];
const before = new Set();
createHook({
  init: (id, type) => void (type === "TickObject" || made.push({ id, type })),
  before: (id) => void before.add(id),
}).enable();
const seen = [];
for (const [name, work] of Object.entries(ways)) {
  made = [];
  work();
  seen.push([name, made]);
}
made = [];
await new Promise((resolve) => setTimeout(resolve, 50));
for (const [name, all] of seen) {
  const types = [...new Set(all.map(({ type }) => type))].join(" and ") || "nothing";
  const runs = all.some(({ id }) => before.has(id)) ? ", whose callback runs" : "";
  fs.appendFileSync("said.txt", `Node ${process.versions.node.split(".")[0]}, ${name}: ${types}${runs}\n`);
}
JS
for version in 20.20.2 24.21.0 26.10.0; do
  rm -rf node-of && node_of "$version"
  "$node" hooks.mjs | cat >/dev/null
done
cp said.txt seen.txt
cat seen.txt && : >errors.txt
expect <<'TEXT'
Node 20, console.log: PIPEWRAP
Node 20, gzipSync: ZLIB
Node 20, pbkdf2Sync: PBKDF2REQUEST
Node 20, hkdfSync: DERIVEBITSREQUEST
Node 20, generateKeyPairSync: KEYPAIRGENREQUEST
Node 20, randomBytes: RANDOMBYTESREQUEST
Node 20, randomUUID: RANDOMBYTESREQUEST
Node 20, sign: SIGNREQUEST
Node 20, createHash: nothing
Node 20, readFileSync: nothing
Node 20, execFileSync: nothing
Node 24, console.log: PIPEWRAP
Node 24, gzipSync: ZLIB
Node 24, pbkdf2Sync: PBKDF2REQUEST
Node 24, hkdfSync: DERIVEBITSREQUEST
Node 24, generateKeyPairSync: KEYPAIRGENREQUEST
Node 24, randomBytes: RANDOMBYTESREQUEST
Node 24, randomUUID: RANDOMBYTESREQUEST
Node 24, sign: SIGNREQUEST
Node 24, createHash: nothing
Node 24, readFileSync: nothing
Node 24, execFileSync: nothing
Node 26, console.log: PIPEWRAP
Node 26, gzipSync: ZLIB
Node 26, pbkdf2Sync: PBKDF2REQUEST
Node 26, hkdfSync: DERIVEBITSREQUEST
Node 26, generateKeyPairSync: KEYPAIRGENREQUEST
Node 26, randomBytes: RANDOMBYTESREQUEST
Node 26, randomUUID: RANDOMBYTESREQUEST
Node 26, sign: SIGNREQUEST
Node 26, createHash: nothing
Node 26, readFileSync: nothing
Node 26, execFileSync: nothing
TEXT
