import { FakeClock } from "@holdfast/clock/testing";
import { beforeEach, expect, it } from "vitest";
import type { Handling } from "../../src/outbox/receiver/handling.ts";
import { Ledger } from "../../src/outbox/receiver/ledger.ts";

let clock: FakeClock;
let ledger: Ledger;

beforeEach(() => {
  clock = new FakeClock();
  const start = clock.monotonic();
  ledger = new Ledger({ clock, standstill: { since: (instant) => 7 + instant - start } });
});

function open(sender: string, id = "m"): Handling {
  return ledger.open({ id, sender });
}

it("reports the senders that had a message at once, and for how long", async () => {
  await clock.step(1_000);
  const first = open("a");
  first.fault = "hang";
  await clock.step(1_600);
  const second = open("b");
  second.fault = "none";
  await second.judged;
  expect(ledger.overlaps).toEqual([
    {
      id: "m",
      earlier: { attempt: 1, sender: "a", fault: "hang" },
      later: { attempt: 2, sender: "b", fault: "none" },
      open: 1_600,
      stood: 1_007,
    },
  ]);
  expect(ledger.counts).toMatchObject({ attempts: 2, open: 2, overlaps: 1 });
});

it.each<{ what: string; end: (first: Handling, second: Handling) => void; overlaps: number }>([
  { what: "nothing more happens", end: () => undefined, overlaps: 1 },
  { what: "the earlier one is answered meanwhile", end: (first) => first.end(), overlaps: 1 },
  { what: "the later one is answered meanwhile", end: (_, second) => second.end(), overlaps: 1 },
  { what: "the earlier one had been given up", end: (first) => first.leave(), overlaps: 0 },
  { what: "the later one had been given up", end: (_, second) => second.leave(), overlaps: 0 },
])("counts $overlaps when $what", async ({ end, overlaps }) => {
  const first = open("a");
  const second = open("b");
  end(first, second);
  expect(first.judged).toBe(second.judged);
  await first.judged;
  expect(ledger.counts.overlaps).toBe(overlaps);
});

it("counts none after the end of an attempt or its sender, or for another message", async () => {
  open("a").end();
  open("a").leave();
  open("a", "another");
  await open("b").judged;
  expect(ledger.counts).toMatchObject({ attempts: 4, open: 2, overlaps: 0 });
  expect(ledger.ids).toEqual(["m", "another"]);
});

it("counts one if three arrive at once and the first is given up", async () => {
  const first = open("a");
  open("b");
  const third = open("c");
  first.leave();
  await third.judged;
  expect(ledger.overlaps).toMatchObject([{ earlier: { sender: "b" }, later: { sender: "c" } }]);
});

it("counts the end of an attempt once", () => {
  const handling = open("a");
  handling.end();
  handling.end();
  handling.leave();
  expect(handling.isLeft).toBe(false);
  expect(ledger.counts).toMatchObject({ attempts: 1, open: 0 });
});
