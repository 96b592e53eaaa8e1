import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, it } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { Program } from "../program.ts";

// Processes, sockets and time are real here.

const MAIN = "recipes/main.js";

describe.concurrent("the command line of the recipes", () => {
  it("lists all recipes and exits with 2 for invalid arguments", ({ expect }) => {
    const main = fileURLToPath(new URL(`../../dist/${MAIN}`, import.meta.url));
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
    const { status, stderr } = run("crawl");
    expect(stderr).toMatch(/^error: no recipe is "crawl"\n/);
    expect(stderr.match(/npm run recipe -- /g)).toHaveLength(7);
    expect(status).toBe(2);
    expect(run("--help")).toMatchObject({ status: 0, stderr: "" });
  });

  it("exits with 143 when SIGTERM arrives before the result", async ({ expect }) => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    await using program = new Program(MAIN, ["wait-until-ready", url]);
    await program.printed(/not ready: TypeError: fetch failed: connect ECONNREFUSED/);
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(128 + 15);
  });

  it("exits with 0 when SIGINT stops a recipe without an end", async ({ expect }) => {
    const url = `postgres://127.0.0.1:${await freePort()}/`;
    await using program = new Program(MAIN, ["listen-to-database", url, "jobs"]);
    await program.printed(/connect ECONNREFUSED .*; next attempt in \d+ ms\n/);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
  });

  it("closes a half-open connection when SIGTERM arrives during the login", async ({ expect }) => {
    await using silent = createServer((socket) => socket.on("error", () => {}).resume());
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const connected = once(silent, "connection");
    const url = `postgres://127.0.0.1:${port}/`;
    await using program = new Program(MAIN, ["listen-to-database", url, "jobs"]);
    await connected;
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(0);
  });
});
