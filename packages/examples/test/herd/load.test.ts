import { expect, it } from "vitest";
import { Load } from "../../src/herd/load.ts";

it("counts calls by interval and outcome; an interval has its first instant and not its last", () => {
  const load = new Load(250);
  load.count(0, "down");
  load.count(249.999, "down");
  load.count(750, "refused");
  load.count(999.999, "accepted");
  load.count(1_000, "accepted");
  expect(load.intervals).toEqual([
    { down: 2, refused: 0, accepted: 0 },
    { down: 0, refused: 0, accepted: 0 },
    { down: 0, refused: 0, accepted: 0 },
    { down: 0, refused: 1, accepted: 1 },
    { down: 0, refused: 0, accepted: 1 },
  ]);
});
