import { describe, expect, it } from "vitest";
import { Alarm, type Sleeper } from "../src/alarm.ts";
import { ManualHost } from "./manual-host.ts";

const NEVER = Number.POSITIVE_INFINITY;

interface Bed {
  readonly host: ManualHost;
  /** Begins a sleep under a name. */
  readonly add: (name: string, delay: number) => Sleeper;
  readonly remove: (sleeper: Sleeper) => void;
  /** Who was woken, and when. */
  readonly woken: [name: string, at: number][];
}

function makeBed(): Bed {
  const host = new ManualHost();
  const alarm = new Alarm(host, true);
  const woken: [name: string, at: number][] = [];
  return {
    host,
    woken,
    add(name, delay) {
      const sleeper = { heapSlot: -1, onDue: () => void woken.push([name, host.time]) };
      alarm.add(sleeper, delay);
      return sleeper;
    },
    remove: (sleeper) => alarm.remove(sleeper),
  };
}

interface Case {
  readonly name: string;
  /** Who sleeps, and for how long. */
  readonly sleeps: Readonly<Record<string, number>>;
  /** When the host wakes the alarm. */
  readonly wakes: readonly number[];
  /** What the host is asked for, all in all. */
  readonly asked: readonly number[];
  readonly woken: Bed["woken"];
}

describe("an Alarm", () => {
  it.each<Case>([
    { name: "on time", sleeps: { a: 10 }, wakes: [10], asked: [10], woken: [["a", 10]] },
    { name: "late", sleeps: { a: 10 }, wakes: [25], asked: [10], woken: [["a", 25]] },
    { name: "1 ms early", sleeps: { a: 10 }, wakes: [9, 10], asked: [10, 1], woken: [["a", 10]] },
    {
      name: "early twice",
      sleeps: { a: 10 },
      wakes: [9.1, 9.9, 11],
      asked: [10, 1, 1],
      woken: [["a", 11]],
    },
    {
      name: "early for ever, as under a half-faked environment",
      sleeps: { a: 10 },
      wakes: [9.1, 9.2, 9.3, 9.4],
      asked: [10, 1, 1, 1],
      woken: [["a", 9.4]],
    },
    {
      name: "far too early, as by a fake",
      sleeps: { a: 10 },
      wakes: [0],
      asked: [10],
      woken: [["a", 0]],
    },
    {
      name: "for the legs of a long delay",
      sleeps: { a: 2500 },
      wakes: [1000, 2001, 2500],
      asked: [1000, 1000, 499],
      woken: [["a", 2500]],
    },
    {
      name: "for the legs of a long delay by a fake",
      sleeps: { a: 2500 },
      wakes: [0, 0, 0],
      asked: [1000, 1000, 500],
      woken: [["a", 0]],
    },
    {
      name: "so late in a leg that all is over",
      sleeps: { a: 2500 },
      wakes: [3000],
      asked: [1000],
      woken: [["a", 3000]],
    },
    {
      name: "for ever and ever",
      sleeps: { a: NEVER },
      wakes: [1000, 2000],
      asked: [1000, 1000, 1000],
      woken: [],
    },
    {
      name: "for a sooner one",
      sleeps: { a: 20, b: 10 },
      wakes: [10, 20],
      asked: [20, 10, 10],
      woken: [
        ["b", 10],
        ["a", 20],
      ],
    },
    {
      name: "for a later one, and one that never comes",
      sleeps: { a: 10, never: NEVER, b: 20 },
      wakes: [10, 20],
      asked: [10, 10, 1000],
      woken: [
        ["a", 10],
        ["b", 20],
      ],
    },
    {
      name: "for several at once: in the order of deadlines, and of their coming",
      sleeps: { a: 12, b: 11, c: 12, d: 13 },
      wakes: [12, 13],
      asked: [12, 11, 1],
      woken: [
        ["b", 12],
        ["a", 12],
        ["c", 12],
        ["d", 13],
      ],
    },
    {
      name: "by a fake, for one after the other",
      sleeps: { a: 10, b: 25 },
      wakes: [0, 0],
      asked: [10, 15],
      woken: [
        ["a", 0],
        ["b", 0],
      ],
    },
  ])("that is woken $name", ({ sleeps, wakes, asked, woken }) => {
    const bed = makeBed();
    for (const [name, delay] of Object.entries(sleeps)) bed.add(name, delay);
    for (const time of wakes) bed.host.wakeAt(time);
    expect([bed.host.asked, bed.woken]).toEqual([asked, woken]);
    expect(bed.host.booked).toBe(Object.keys(sleeps).length > woken.length);
  });

  it("sleeps on when the first one leaves, and has nothing booked when the last one does", () => {
    const { host, add, remove, woken } = makeBed();
    const first = add("first", 10);
    add("second", 20);
    add("third", 30);
    remove(first);
    expect([host.asked, host.booked]).toEqual([[10], true]);
    host.wakeAt(10);
    host.wakeAt(20);
    expect([host.asked, woken]).toEqual([[10, 10, 10], [["second", 20]]]);
    host.wakeAt(30);
    const last = add("last", 10);
    remove(last);
    expect([host.asked, host.booked]).toEqual([[10, 10, 10, 10], false]);
    host.wakeAt(99);
    expect(woken).toEqual([
      ["second", 20],
      ["third", 30],
    ]);
  });

  it("lets the one that is booked go where a sooner one comes", () => {
    const { host, add, woken } = makeBed();
    add("late", 50);
    host.time = 5;
    add("soon", 10);
    add("as soon", 10);
    add("later", 45.5);
    expect(host.asked).toEqual([50, 10]);
    host.wakeAt(15);
    expect([host.asked, woken]).toEqual([
      [50, 10, 35],
      [
        ["soon", 15],
        ["as soon", 15],
      ],
    ]);
  });

  it("starts counting its corrections anew for the next one", () => {
    const { host, add, woken } = makeBed();
    add("a", 10);
    add("b", 30);
    for (const time of [9.1, 9.2, 10, 29.1, 29.2, 29.3, 30]) host.wakeAt(time);
    expect([host.asked, woken]).toEqual([
      [10, 1, 1, 20, 1, 1, 1],
      [
        ["a", 10],
        ["b", 30],
      ],
    ]);
  });
});
