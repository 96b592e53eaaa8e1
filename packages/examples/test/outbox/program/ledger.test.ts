import { beforeEach, expect, it } from "vitest";
import type { Handling } from "../../../src/outbox/program/receiver/handling.ts";
import { Ledger } from "../../../src/outbox/program/receiver/ledger.ts";

let ledger: Ledger;

beforeEach(() => {
  ledger = new Ledger();
});

it.each<{ what: string; end: (first: Handling, second: Handling) => void; overlaps: number }>([
  { what: "nothing more happens", end: () => undefined, overlaps: 1 },
  { what: "the earlier one is answered meanwhile", end: (first) => first.end(), overlaps: 1 },
  { what: "the later one is answered meanwhile", end: (_, second) => second.end(), overlaps: 1 },
  { what: "the earlier one had been given up", end: (first) => first.leave(), overlaps: 0 },
  { what: "the later one had been given up", end: (_, second) => second.leave(), overlaps: 0 },
])("counts $overlaps when $what", async ({ end, overlaps }) => {
  const first = ledger.open("m");
  const second = ledger.open("m");
  end(first, second);
  expect(first.judged).toBe(second.judged);
  await first.judged;
  expect(ledger.counts.overlaps).toBe(overlaps);
});

it("counts none after the end of an attempt, or its sender's, or of another message", async () => {
  ledger.open("m").end();
  ledger.open("m").leave();
  ledger.open("another");
  await ledger.open("m").judged;
  expect(ledger.counts).toMatchObject({ attempts: 4, open: 2, overlaps: 0 });
  expect(ledger.ids).toEqual(["m", "another"]);
});

it("takes an attempt for over once", () => {
  const handling = ledger.open("m");
  handling.end();
  handling.end();
  handling.leave();
  expect(handling.isLeft).toBe(false);
  expect(ledger.counts).toMatchObject({ attempts: 1, open: 0 });
});
