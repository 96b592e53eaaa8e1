import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("finds nothing in the first use of a console that writes to a pipe", async () => {
  const program = fileURLToPath(new URL("./foreign-console.mjs", import.meta.url));
  const { stdout, stderr } = spawn(process.execPath, [program]);
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(["said\n[]\n", "said\n"]);
});
