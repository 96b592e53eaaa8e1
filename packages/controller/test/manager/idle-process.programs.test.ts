import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const PROCESS = fileURLToPath(new URL("./idle-process.mjs", import.meta.url));

/** Node's exit code for a program that ends while its main module still awaits. */
const UNSETTLED = 13;

async function outcomeOf(kind: string, options: object): Promise<unknown> {
  const child = spawn(process.execPath, [PROCESS, kind, JSON.stringify(options)]);
  const exit = once(child, "exit");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { exit: await exit, output: output.trim().split("\n"), errors };
}

describe("a process that is idle", () => {
  it.each(["manager", "empty manager", "elector"])(
    "lives until SIGTERM, and exits with 0: %s",
    async (kind) => {
      expect(await outcomeOf(kind, {})).toEqual({
        exit: [0, null],
        output: ["runs", "stopped"],
        errors: "",
      });
    },
  );

  it.each(["manager", "empty manager"])(
    "ends when nothing else keeps it alive, with ref: false: %s",
    async (kind) => {
      expect(await outcomeOf(kind, { ref: false })).toMatchObject({
        exit: [UNSETTLED, null],
        output: ["runs"],
      });
    },
  );
});
