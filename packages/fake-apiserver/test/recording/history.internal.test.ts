import { expect, it } from "vitest";
import type { Exchange } from "../../src/recording/exchange.ts";
import { History } from "../../src/recording/history.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const store = "/configmaps";
const where = { store, key: "default/a" };

/** An object of a version, with a uid, and with a manager's fields. */
const object = (version: number, { uid = "u", fields = "", created = START + 60_000 } = {}) => ({
  metadata: {
    ...{ name: "a", uid, resourceVersion: `${version}` },
    creationTimestamp: new Date(created).toISOString(),
    managedFields: [{ manager: "me", fieldsV1: fields }],
  },
});

const write = (at: number): Exchange => ({
  request: { method: "PATCH", path: "/", headers: {} },
  call: undefined,
  ...{ at, text: "" },
});

/** The versions of the object: number, latest instant, and who wrote it. */
function closed(history: History, writes: readonly Exchange[] = []): unknown[] {
  history.close(START, (instant) => START + instant);
  const { versions, isOld } = history.place(store, where.key);
  return versions.map(({ number, at, by, object: is }, index) => [
    ...[is === undefined ? "gone" : "is", number, at],
    by === undefined ? (isOld && index === 0 ? "before" : "others") : writes.indexOf(by),
  ]);
}

it("lets others write as late as the first sight of a later version allows", () => {
  const history = new History();
  history.see({ store, key: "default/b", object: object(3), at: 90_000 });
  history.see({ ...where, object: object(4), at: 95_000, isWatched: true });
  history.see({ store, key: "default/c", object: object(5), at: 92_000 });
  expect(closed(history)).toEqual([["is", 4, 92_000, "others"]]);
  expect(history.place(store, "default/b").versions[0]?.at).toBe(90_000);
});

it("takes a version for that of a write which is answered with it, if it was not seen before", () => {
  const history = new History();
  const writes = [write(100), write(200)];
  history.see({ ...where, object: object(4), at: 110, isWatched: true });
  history.see({ ...where, object: object(4), at: 120, by: writes[0] as Exchange });
  history.see({ ...where, object: object(4), at: 210, by: writes[1] as Exchange });
  history.see({ ...where, object: object(5), at: 220, isWatched: true });
  expect(closed(history, writes)).toEqual([
    ["is", 4, 110, 0],
    ["is", 5, 220, "others"],
  ]);
});

it("takes a version with other fields of the program for that of a write without an answer", () => {
  const history = new History();
  const lost = write(200);
  lost.place = history.place(store, where.key);
  history.see({ ...where, object: object(4, { fields: "x" }), at: 100, isWatched: true });
  history.see({ ...where, object: object(5, { fields: "x" }), at: 300, isWatched: true });
  history.see({ ...where, object: object(6, { fields: "y" }), at: 400, isWatched: true });
  history.attribute([lost], () => "me");
  expect(closed(history, [lost]).map((version) => (version as unknown[])[3])).toEqual([
    ...["others", "others", 0],
  ]);
});

it("has one deletion of an object that is seen gone twice, and one before another uid", () => {
  const history = new History();
  history.see({ ...where, object: object(4), at: 100 });
  history.see({ ...where, object: undefined, at: 200 });
  history.see({ ...where, object: undefined, number: 7, at: 300, isWatched: true });
  history.see({ ...where, object: object(8), at: 400 });
  history.see({ ...where, object: object(9, { uid: "v" }), at: 500 });
  expect(closed(history)).toEqual([
    ["is", 4, 100, "others"],
    ["gone", 7, 200, "others"],
    ["is", 8, 400, "others"],
    ["gone", 8.5, 500, "others"],
    ["is", 9, 500, "others"],
  ]);
});

it("has an object from the begin if it was created before, also one that is known from a write alone", () => {
  const read = new History();
  read.see({ ...where, object: object(4, { created: START - 1_000 }), at: 100 });
  expect(closed(read)).toEqual([["is", 4, 100, "before"]]);
  const written = new History();
  const writes = [write(100)];
  const by = writes[0] as Exchange;
  written.see({ ...where, object: object(4, { created: START - 1_000 }), at: 110, by });
  expect(closed(written, writes)).toEqual([
    ["is", 3.5, 110, "before"],
    ["is", 4, 110, 0],
  ]);
});

it("has what a snapshot tells from the begin on, however new it is, and whoever wrote it", () => {
  const history = new History();
  const writes = [write(-10)];
  history.see({ ...where, object: object(4), at: 0 });
  history.begin();
  history.see({ ...where, object: object(4), at: 20, by: writes[0] as Exchange });
  history.see({ ...where, object: object(5), at: 90, isWatched: true });
  history.see({ store, key: "default/b", object: object(6), at: 95, isWatched: true });
  history.close(START, (instant) => START + instant);
  const places = [...history.places].map(({ isOld, versions }) => [isOld, versions.length]);
  expect(places).toEqual([
    [true, 2],
    [false, 1],
  ]);
});
