import { expect, test } from "vitest";
import { Program } from "../program.ts";

test("the sample for node:test passes in the runner of Node", async () => {
  await using program = new Program("getting-started/get-text.node-test.js", []);
  expect(await program.exited).toBe(0);
  expect(program.stdout).toMatch(/pass 1\n/);
});
