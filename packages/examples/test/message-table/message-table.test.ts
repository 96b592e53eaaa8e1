import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const textOf = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), "utf8");

it("the guide shows the program that message-table.services.ts runs, of fewer than 60 lines", () => {
  const program = textOf("packages/examples/src/message-table/main.ts").trimEnd();
  expect(textOf("docs/outbox.md")).toContain(`\`\`\`ts no-run\n${program}\n\`\`\``);
  const lines = program.split("\n").filter((line) => line.trim() !== "");
  expect(lines.length).toBeLessThan(60);
});
