import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { Journal } from "../src/journal.ts";

it("keeps the first 10,000 notes of a program that logs for ever", () => {
  const journal = new Journal(new FakeClock());
  for (let line = 1; line <= 10_001; line++) journal.note(1, `line ${line}`);
  expect(journal.notes).toHaveLength(10_000);
  expect(journal.notes.at(-1)?.text).toBe("line 10000");
});
