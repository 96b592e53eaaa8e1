import type { Activity } from "@holdfast/outbox/store";
import { describe, expect, it } from "vitest";
import { History } from "../../src/bin/history.ts";

const T = 1_700_000_040_000; // a minute begins
const MINUTE = 60_000;

const found = (facts: Partial<Activity>): Activity => {
  return { topic: "a", status: "delivered", slot: T, count: 1, oldest: T, isCut: false, ...facts };
};

describe("the last hour of the topics", () => {
  it("looks an hour back at first, and then at what may still be written", () => {
    const history = new History();
    expect(history.since(T + 1)).toBe(T - 60 * MINUTE);
    history.add([], T + 1);
    expect(history.since(T + 2_001)).toBe(T - 20_000);
    history.add([], T + 2_001);
    expect(history.since(T + 90 * MINUTE)).toBe(T + 30 * MINUTE); // after an outage
  });

  it("counts what is read twice once, and keeps what has left its status", () => {
    const history = new History();
    history.add([found({ count: 5 }), found({ status: "retrying", count: 2 })], T);
    history.add([found({ count: 7 }), found({ status: "dead", count: 1 })], T + 2_000);
    const [view] = history.views(T + 2_000);
    expect(view?.delivered.slice(-2)).toEqual([0, 7]);
    expect(view?.failed.slice(-2)).toEqual([0, 3]);
    expect(view).toMatchObject({ topic: "a", waiting: 0, dead: 1, oldest: undefined });
  });

  it("sums the slots of a minute, and forgets those of more than an hour ago", () => {
    const history = new History();
    history.add(
      [0, 50_000, 60_000].map((after) => found({ slot: T + after })),
      T + MINUTE,
    );
    expect(history.views(T + MINUTE)[0]?.delivered.slice(-3)).toEqual([0, 2, 1]);
    history.add([], T + 60 * MINUTE);
    expect(history.views(T + 60 * MINUTE)[0]?.delivered.slice(0, 2)).toEqual([1, 0]);
    history.add([], T + 62 * MINUTE + 10_000);
    expect(history.views(T + 62 * MINUTE + 10_000)).toEqual([]);
  });

  it("tells what waits, since when, and what may be more", () => {
    const history = new History();
    const waiting = [
      found({ status: "pending", slot: undefined, count: 3, oldest: T - 5 }),
      found({ status: "retrying", slot: undefined, count: 4, oldest: T - 9, isCut: true }),
      found({ status: "dead", slot: undefined, count: 2, oldest: T - 99 }),
    ];
    history.add(waiting, T);
    const state = { waiting: 7, dead: 2, oldest: T - 9, isCut: true };
    expect(history.views(T)).toMatchObject([{ topic: "a", ...state }]);
  });

  it("keeps 100 topics apart, and the others together", () => {
    const history = new History();
    const many = (count: number) =>
      Array.from({ length: 130 }, (_, at) => found({ topic: `t${at + 100}`, count }));
    history.add(many(1), T);
    history.add(many(2), T);
    const views = history.views(T);
    expect(views.map(({ topic }) => topic).slice(98)).toEqual(["t198", "t199", undefined]);
    expect(views.at(-1)?.delivered.at(-1)).toBe(60);
  });
});
