import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { requiredUrl } from "./required-url.ts";
import { makeDatabase } from "./test-database.ts";

const MAIN = fileURLToPath(new URL("../../../dist/outbox/program/crash/main.js", import.meta.url));

/** How many workers die; `ROUNDS=100` for a hundred. */
const ROUNDS = process.env["ROUNDS"] ?? "10";

it.each([
  { name: "the embedded database", url: async () => "" },
  { name: "PostgreSQL", url: () => makeDatabase(requiredUrl("DATABASE_URL")) },
])(
  "nothing is lost on $name when workers die before and after each step",
  { timeout: 3_600_000 },
  async ({ url }) => {
    const env = { ...process.env, DATABASE_URL: await url() };
    const rounds = spawn(process.execPath, [MAIN, "--rounds", ROUNDS], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed, [code]] = await Promise.all([text(rounds.stdout), once(rounds, "exit")]);
    console.log(printed);
    expect(printed).toContain(`${ROUNDS} workers died`);
    expect(printed).toContain("0 lost, 0 stuck, 0 effects twice.");
    expect(printed).toContain("All is as it must be.");
    expect(code).toBe(0);
  },
);
