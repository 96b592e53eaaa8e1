import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DIES, moves, SLOTS } from "../../src/slots/moves.ts";
import { movesPicture } from "../../src/slots/picture.ts";

it("the picture in the guide shows the slots of Shards", async () => {
  const drawn = readFileSync(new URL("../../../../docs/img/slots.svg", import.meta.url), "utf8");
  expect(drawn === (await movesPicture(1)), "to draw it anew: npm run docs").toBe(true);
});

it("no slot has two holders, and all work again one lease and two periods after a kill", async () => {
  const spans = await moves(1);
  const ordered = [...spans].sort((a, b) => a.slot - b.slot || a.from - b.from);
  const overlaps = ordered.filter((span, index) => {
    const next = ordered[index + 1];
    return next?.slot === span.slot && next.from < span.to;
  });
  expect(overlaps).toEqual([]);
  const worked = new Set(
    spans
      .filter(({ from, to }) => from <= DIES + 19_800 && to > DIES + 19_800)
      .map(({ slot }) => slot),
  );
  expect(worked.size).toBe(SLOTS);
});
