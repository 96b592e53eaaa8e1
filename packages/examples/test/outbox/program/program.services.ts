import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import { childrenOf, survivors } from "../../../../../test/processes.ts";

// Processes, sockets, the database and time are real here.

const MAIN = fileURLToPath(new URL("../../../dist/outbox/program/main.js", import.meta.url));

/** For a machine that is busy with other things. */
const PATIENT = { timeout: 300_000 };

it.concurrent(
  "delivers everything once while workers are killed, and leaves nothing",
  PATIENT,
  async ({ expect }) => {
    const args = ["--messages", "60", "--kills", "3", "--seed", "3", "--json", "-"];
    const env = { ...process.env, DATABASE_URL: "", AMQP_URL: "", REDIS_URL: "" };
    const program = spawn(process.execPath, [MAIN, ...args], { env });
    const [stdout, stderr] = [text(program.stdout), text(program.stderr)];
    const [code] = await once(program, "exit");
    expect(await stderr).toMatch(/killed 3/);
    const summary: unknown = JSON.parse(await stdout);
    expect(summary).toMatchObject({
      ...{ sent: 59, takenBack: 1, killed: 3, overlaps: 0, overlapping: [], faults: [] },
      ...{ missing: 0, lost: 0, stuck: 0, givenUpEarly: 0, twice: 0, phantoms: 0 },
    });
    expect(summary).toHaveProperty("duplicates", expect.any(Number));
    expect(code).toBe(0);
  },
);

it.concurrent("ends at a signal with its workers", PATIENT, async ({ expect }) => {
  const env = { ...process.env, DATABASE_URL: "", AMQP_URL: "", REDIS_URL: "" };
  const program = spawn(process.execPath, [MAIN, "--messages", "100000", "--kills", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(program, "exit");
  let pids: readonly number[] = [];
  let printed = "";
  for await (const chunk of program.stdout) {
    printed += String(chunk);
    if (pids.length > 0 || !/success [1-9]/.test(printed)) continue;
    pids = childrenOf(program.pid);
    program.kill("SIGTERM");
  }
  const [code] = await exited;
  expect(pids).toHaveLength(3);
  expect(await survivors(pids)).toEqual([]);
  expect(printed).toContain("stopped before all was settled");
  expect(code).toBe(128 + 15);
});
