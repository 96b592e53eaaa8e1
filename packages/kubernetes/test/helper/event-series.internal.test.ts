import { describe, expect, it } from "vitest";
import { cutBytes, eventName } from "../../src/helper/event-object.ts";
import { EventSeriesTable, type Occurrence, seriesKey } from "../../src/helper/event-series.ts";

const MINUTE = 60_000;
const about = (name: string, reason = "Synced"): Occurrence => ({
  regarding: { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name },
  type: "Normal",
  reason,
  action: "Sync",
  note: "",
});
const at = (monotonic: number) => ({ wall: 1_000_000 + monotonic, monotonic });

/** Writes what is due, as the recorder does. */
function write(table: EventSeriesTable, occurrence: Occurrence, monotonic: number): string {
  const step = table.next(seriesKey(occurrence), monotonic, false);
  if (step.type === "wait") return `wait ${step.delay}`;
  if (step.type === "none") return "none";
  step.series.written = step.series.count;
  step.series.writtenAt = monotonic;
  return `${step.type} ${step.series.number}: ${step.series.count}`;
}

describe("EventSeriesTable", () => {
  it("counts repetitions within 6 minutes of the latest, written every 10 s at most", () => {
    const table = new EventSeriesTable();
    const ann = about("ann");
    expect([table.record(ann, at(0)), write(table, ann, 0)]).toEqual(["begun", "create 1: 1"]);
    expect(write(table, ann, 1)).toBe("none");
    expect([table.record(ann, at(4_000)), write(table, ann, 4_000)]).toEqual([
      "counted",
      "wait 6000",
    ]);
    expect([table.record(ann, at(9_999)), write(table, ann, 10_000)]).toEqual([
      "pending",
      "patch 1: 3",
    ]);
    const last = 9_999 + 6 * MINUTE;
    expect([table.record(ann, at(last - 1)), write(table, ann, last)]).toEqual([
      "counted",
      "patch 1: 4",
    ]);
    expect([table.record(ann, at(last - 1 + 6 * MINUTE)), write(table, ann, 2 * last)]).toEqual([
      "begun",
      "create 2: 1",
    ]);
  });

  it("distinguishes objects, types, reasons and actions, but not notes", () => {
    const table = new EventSeriesTable();
    const ann = about("ann");
    const others: Occurrence[] = [
      about("bob"),
      about("ann", "Checked"),
      { ...ann, type: "Warning" },
      { ...ann, action: "Check" },
      { ...ann, regarding: { ...ann.regarding, uid: "1" } },
    ];
    for (const one of [ann, ...others]) expect(table.record(one, at(0))).toBe("begun");
    expect(table.record({ ...ann, note: "again" }, at(0))).toBe("pending");
  });

  it("writes at once on the last occasion", () => {
    const table = new EventSeriesTable();
    const ann = about("ann");
    table.record(ann, at(0));
    write(table, ann, 0);
    table.record(ann, at(1));
    expect(table.next(seriesKey(ann), 1, true).type).toBe("patch");
  });

  it("begins 25 events of an object at once, then one in 5 minutes", () => {
    const table = new EventSeriesTable();
    const record = (reason: number, monotonic: number): string =>
      table.record(about("ann", `r${reason}`), at(monotonic));
    const first = Array.from({ length: 27 }, (_, reason) => record(reason, 0));
    expect(first).toEqual([...Array(25).fill("begun"), "limited", "limited"]);
    expect(record(0, 1)).toBe("pending");
    expect(table.record(about("bob"), at(0))).toBe("begun");
    expect(record(28, 5 * MINUTE - 1)).toBe("limited");
    expect(record(29, 5 * MINUTE)).toBe("begun");
    expect(record(30, 5 * MINUTE)).toBe("limited");
  });

  it("keeps 1,000 series: drops written ones, never a waiting one", () => {
    const table = new EventSeriesTable();
    const objects = Array.from({ length: 1_001 }, (_, index) => about(`o${index}`));
    const [first, second, ...more] = objects as [Occurrence, Occurrence, ...Occurrence[]];
    const last = more.pop() as Occurrence;
    for (const one of [first, second, ...more]) expect(table.record(one, at(0))).toBe("begun");
    expect(table.record(last, at(0))).toBe("full");
    write(table, first, 0);
    write(table, second, 0);
    table.record(first, at(1));
    write(table, first, 20_000);
    expect(table.record(last, at(1))).toBe("begun");
    expect(table.record(first, at(2))).toBe("counted");
    expect(table.record(second, at(2))).toBe("full");
  });

  it("forgets the budgets of all but 1,000 objects", () => {
    const table = new EventSeriesTable();
    for (let reason = 0; reason < 25; reason++) table.record(about("ann", `r${reason}`), at(0));
    expect(table.record(about("ann", "last"), at(0))).toBe("limited");
    for (let index = 0; index < 1_000; index++) {
      const other = about(`o${index}`);
      table.record(other, at(0));
      table.forget(seriesKey(other));
    }
    expect(table.record(about("ann", "last"), at(0))).toBe("begun");
  });
});

describe("names and texts of events", () => {
  it.each([
    ["ann", "ann.5f"],
    ["system:basic-user", "event.5f"],
    [`${"a".repeat(249)}.b`, `${"a".repeat(249)}.5f`],
    ["a".repeat(253), `${"a".repeat(250)}.5f`],
  ])("name an event about %s", (object, expected) => {
    expect(eventName(object, "5f")).toBe(expected);
    expect(eventName(object, "5f").length).toBeLessThanOrEqual(253);
  });

  it.each([
    ["short", 128, "short"],
    ["x".repeat(129), 128, "x".repeat(128)],
    ["€".repeat(43), 128, "€".repeat(42)],
    ["😀".repeat(2), 7, "😀"],
    ["", 0, ""],
  ])("cut %s to %i bytes", (text, limit, expected) => expect(cutBytes(text, limit)).toBe(expected));
});
