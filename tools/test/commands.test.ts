import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { publicPackages } from "../packages.mjs";

/** The commands that the packages install: their names, and the files that npx starts. */
const commands = publicPackages().flatMap(({ folder, manifest }) =>
  Object.entries<string>(manifest.bin ?? {}).map(
    ([name, file]) => [name, join(folder, file)] as const,
  ),
);

test("five packages install a command", () => expect(commands.length).toBe(5));

// As behind a pipe to `head`, which ends when it has its lines. A crash ends with 1.
test.each(
  commands.flatMap(([name, file]) => [
    { name, file, arg: "--help", code: 0 },
    { name, file, arg: "--wrong", code: 2 },
  ]),
)("$name $arg ends with $code if nobody reads what it prints", async ({ file, arg, code }) => {
  const child = spawn(process.execPath, [file, arg]);
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await once(child, "close")).toEqual([code, null]);
});
