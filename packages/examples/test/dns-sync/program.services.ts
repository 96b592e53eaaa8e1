import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { Program } from "../program.ts";

const PATIENT = { timeout: 900_000 };

describe("npm run dns-sync", () => {
  it("--check injects every fault and holds every invariant", PATIENT, async () => {
    const program = new Program("dns-sync/main.js", ["--check", "--seed", "5", "--records", "20"]);
    const code = await program.exited;
    const { stdout } = program;
    expect(stdout).toContain("16 faults");
    expect(stdout.match(/ {2}holds /g)).toHaveLength(8);
    expect(stdout).toMatch(/provider: answered 412 to the delayed write/);
    expect(stdout).toMatch(/[1-9]\d* refused/);
    expect(stdout).toMatch(/^(\d+) of \1 invariants checked; all of these held\.$/m);
    expect(code).toBe(0);
  });

  it("stops gracefully on Ctrl-C and leaves no process", PATIENT, async () => {
    const program = new Program("dns-sync/main.js", ["--records", "10"]);
    const [, url = ""] = await program.printed(/the page: (\S+)/);
    const state = await fetch(`${url}state`).then((response) => response.json());
    const pids = (state as { replicas: { pid: number }[] }).replicas.map(({ pid }) => pid);
    expect(pids).toHaveLength(3);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
    expect(program.stdout).toMatch(/every child stops within 25 s +holds +3 stops/);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("exits with 130 when Ctrl-C ends a check", PATIENT, async () => {
    const program = new Program("dns-sync/main.js", ["--check", "--records", "10"]);
    await program.printed(/all: records, caches and statuses agree/);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(130);
  });

  it("exits with 2 if its port is taken", PATIENT, async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const program = new Program("dns-sync/main.js", ["--port", `${port}`, "--records", "10"]);
    expect(await program.exited).toBe(2);
    server.close();
  });

  it("exits with 2 on bad options before it starts anything", async () => {
    const program = new Program("dns-sync/main.js", ["--real", "--cluster"]);
    expect(await program.exited).toBe(2);
  });
});
