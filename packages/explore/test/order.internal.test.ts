import { expect, it } from "vitest";
import { type Attempt, beginOf, effectiveOf, lateAs, orderedAs } from "../src/order.ts";

/**
 * Attempts from `label@instant`, with an `!` behind those that fail, a `+` before it if they change the state, and
 * `~instant` for late news.
 */
const attempts = (text: string): Attempt[] =>
  text.split(" ").map((one) => {
    const [label = "", at, since] = one.replace(/\+?!/, "").split(/[@~]/);
    return {
      label,
      at: Number(at),
      since: since === undefined ? undefined : Number(since),
      hasSucceeded: !one.endsWith("!"),
      hasChanged: one.includes("+"),
    };
  });

it.each<[string, string, string, object]>([
  ["a failure lets another one go first", "a@0! b@0 a@5", "a@0 b@0", { a: [1], b: [0] }],
  ["a failure after a change counts", "a@0+! b@0 a@5", "a@0 b@0", { a: [0], b: [1] }],
  ["all at one instant keep their order", "b@0 c@0 a@0", "c@0 a@0 b@0", { b: [0], c: [1], a: [2] }],
  ["one that is late and first begins when it is due", "a@60", "a@0", { a: [0] }],
  ["none misses a change", "b@60 c@60 a@60", "a@0 b@2 c@2 a@4", { b: [2], c: [2], a: [3, 5] }],
  ["none begins before it is due", "b@60 a@60", "a@0 b@8 a@8", { b: [8], a: [7, 10] }],
  ["late news count from their instant", "a@60~0 b@9", "b@8 a@0", { b: [8], a: [0] }],
  ["one that never succeeds begins when it is due", "a@0!", "a@0 b@3", { a: [0], b: [3] }],
])("begins reconciles in the order of a world: %s", (_, world, known, begins) => {
  const schedule = orderedAs(effectiveOf(attempts(world)).at(-1) ?? [], attempts(known));
  expect(Object.fromEntries(schedule.begins)).toEqual(begins);
});

it("begins reconciles as late as those of a world, and the others after the users", () => {
  const schedule = lateAs(attempts("a@5"), { rest: 20, from: 0 });
  const begin = (label: string, now: number) => beginOf(label, now, schedule);
  expect([begin("a", 0), begin("a", 5), begin("a", 6), begin("b", 0), begin("b", 30)]).toEqual([
    5, 5, 20, 20, 30,
  ]);
});

it("begins reconciles at once that are due while others may still change something", () => {
  const schedule = lateAs(attempts("a@5 a@60"), { rest: 20, from: 10 });
  expect([3, 10, 61].map((now) => beginOf("a", now, schedule))).toEqual([3, 60, 61]);
});
