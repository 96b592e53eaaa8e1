import { describe, expect, it } from "vitest";
import {
  decidePass,
  type NextPass,
  type PassEnd,
  type PassFacts,
} from "../../src/reflect/pass-decision.ts";

const calm: PassFacts = {
  phase: "watch",
  isHealthy: false,
  barren: 0,
  sinceList: 60_000,
  watches: 1,
};
const healthy: Partial<PassFacts> = { isHealthy: true };
const listing: Partial<PassFacts> = { phase: "list" };
const crowded: Partial<PassFacts> = { isHealthy: true, watches: 5 };

const closed: PassEnd = { kind: "closed" };
const failed: PassEnd = { kind: "failed", error: new Error("reset") };
const busy: PassEnd = { kind: "busy", after: 7_000 };
const expired: PassEnd = { kind: "expired" };

type Row = [name: string, end: PassEnd, facts: Partial<PassFacts>, next: string];

// `!` after the name of the request: the probe comes first. `*`: the ladder starts over before the delay.
const rows: Row[] = [
  ["close after an event, a bookmark or 5 s", closed, healthy, "watch none *"],
  ["such a close after barren ones", closed, { ...healthy, barren: 2 }, "watch none *"],
  ["close without these", closed, {}, "watch ladder barren 1"],
  ["the second in a row", closed, { barren: 1 }, "watch ladder barren 2"],
  ["the third in a row", closed, { barren: 2 }, "list ladder"],
  ["no byte for the idle timeout", { kind: "idle" }, {}, "watch none"],
  ["no byte of a list", { kind: "idle" }, listing, "list ladder"],
  ["410", expired, {}, "list none"],
  ["410 within 10 s after a list", expired, { sinceList: 9_999 }, "list ladder"],
  ["410 after 10 s", expired, { sinceList: 10_000 }, "list none"],
  ["410 for a list", expired, listing, "list ladder"],
  ["410 after an event", expired, healthy, "list none *"],
  ["429 or 503 with a time", busy, {}, "watch 7000"],
  ["the same for a list", busy, listing, "list 7000"],
  ["the same when crowded", busy, crowded, "watch 7000"],
  ["another error", failed, {}, "watch! ladder"],
  ["another error after an event or 5 s", failed, healthy, "watch! ladder *"],
  ["another error between barren closes", failed, { barren: 2 }, "watch! ladder barren 2"],
  ["another error of a list", failed, listing, "list ladder"],
  ["a version that goes back", { kind: "went-back" }, {}, "list none"],
  ["an own write that was not shown", { kind: "lost-write" }, {}, "list none"],
  ["a list that was asked for", { kind: "relist" }, healthy, "list none *"],
  ["the fourth watch within 10 s", closed, { ...healthy, watches: 4 }, "watch none *"],
  ["the fifth watch within 10 s, whatever it brought", closed, crowded, "watch ladder"],
  ["a version that goes back when crowded", { kind: "went-back" }, crowded, "list ladder"],
  ["an own write that was not shown when crowded", { kind: "lost-write" }, crowded, "list ladder"],
  ["no byte when crowded", { kind: "idle" }, crowded, "watch ladder"],
];

describe("a pass that ends with", () => {
  it.each(rows)("%s", (_, end, facts, next) => {
    expect(format(decidePass(end, { ...calm, ...facts }))).toBe(next);
  });
});

function format({ begin, probe, delay, startsOver, barren }: NextPass): string {
  return [
    probe ? `${begin}!` : begin,
    delay,
    startsOver ? "*" : "",
    barren > 0 ? `barren ${barren}` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}
