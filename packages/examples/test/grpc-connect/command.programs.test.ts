import { describe, it } from "vitest";
import { childrenOf, survivors } from "../../../../test/processes.ts";
import { Program } from "../program.ts";

// Processes, sockets and time are real here. The program ends by itself only if nothing is left in it:
// no process, no socket and no timer.

const MAIN = "grpc-connect/main.js";

describe.concurrent("the program", () => {
  const short = ["--initial", "20ms", "--hold", "50ms", "--seed", "1"];

  it("plays its script, follows the protocol and leaves nothing", async ({ expect }) => {
    await using program = new Program(MAIN, [...short, "--min-connect-timeout", "300ms"]);
    await program.printed(/ {2}refuse {2}attempt 1: .* next attempt /);
    await program.printed(/ {2}refuse {2}attempt 2: /);
    await program.printed(/ {2}hang {4}attempt 3: timed out after /);
    await program.printed(/ {2}hang {4}attempt 4: timed out after .*, next attempt at once/);
    await program.printed(/ {2}reset {3}attempt 5: /);
    await program.printed(/ {2}accept {2}attempt \d+: accepted: SETTINGS frame after /);
    await program.printed(/ {2}accept {2}attempt \d+: lost after /);
    await program.printed(/ {2}refuse {2}attempt 1: /);
    await program.printed(/ {2}refuse {2}attempt 2: /);
    await program.printed(/ {2}accept {2}attempt \d+: accepted/);
    await program.printed(/ {2}accept {2}attempt \d+: lost after /);
    await program.printed(/PLANNED +MEASURED +DIFFERENCE/);
    await program.printed(/No attempt started too early\./);
    expect(await program.exited).toBe(0);
  });

  it("ends at a signal, however long an attempt may take", async ({ expect }) => {
    await using program = new Program(MAIN, [...short, "--min-connect-timeout", "1h"]);
    await program.printed(/ {2}refuse {2}attempt 2: /);
    const children = childrenOf(program.child.pid);
    expect(children.length).toBeGreaterThan(0);
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(128 + 15);
    expect(await survivors(children)).toEqual([]);
  });

  it("ends its peer when it is killed", async ({ expect }) => {
    await using program = new Program(MAIN, [...short, "--min-connect-timeout", "1h"]);
    await program.printed(/ {2}refuse {2}attempt 2: /);
    const children = childrenOf(program.child.pid);
    program.child.kill("SIGKILL");
    await program.exited;
    expect(await survivors(children)).toEqual([]);
  });

  it("prints its usage", async ({ expect }) => {
    await using program = new Program(MAIN, ["--help"]);
    expect(await program.exited).toBe(0);
    expect(program.stdout).toMatch(/^Usage: npm run grpc-connect -- \[options\]\n/);
  });
});
