import { beforeEach, expect, it } from "vitest";
import { Reconciles, type WatchedRequest } from "../src/reconciles.ts";

const never = new AbortController().signal;
const owners = [1, 2].map((number) => ({ number, isAwake: true, crashed: never }));
const [one, other] = owners as [(typeof owners)[0], (typeof owners)[0]];

let overlaps: string[];
let reconciles: Reconciles;

beforeEach(() => {
  overlaps = [];
  reconciles = new Reconciles({ now: () => 0, onOverlap: (text) => void overlaps.push(text) });
});

/** Begins a reconcile that does not end. */
function begin(owner: typeof one, key: string, more: Partial<WatchedRequest> = {}): void {
  void reconciles.watch(
    owner,
    "jobs",
    () => new Promise(() => {}),
  )({ key, signal: never, ...more });
}

it("forgets what a replica that has crashed has left, and nothing of another one", () => {
  begin(one, "a");
  begin(other, "b");
  reconciles.forget(other);
  expect(reconciles.left).toBe("the reconcile of jobs a still runs");
  reconciles.forget(one);
  expect(reconciles.left).toBeUndefined();
});

it("tells of no second reconcile of one replica", () => {
  begin(one, "a");
  begin(one, "a");
  expect(overlaps).toEqual([]);
});

it.each<[string, Partial<WatchedRequest>, number]>([
  ["runs", {}, 1],
  ["was told to end", { signal: AbortSignal.abort() }, 0],
  [
    "was told to end, and holds its lease",
    { signal: AbortSignal.abort(), leadership: { isHeld: true } },
    1,
  ],
  ["has lost its lease", { leadership: { isHeld: false } }, 0],
])("tells of a second replica on a key while the first one %s", (_, request, count) => {
  begin(one, "a", request);
  begin(other, "b");
  begin(other, "a");
  expect(overlaps).toEqual(
    Array(count).fill("replicas 1 and 2 are in the reconcile of jobs a at one instant"),
  );
});

it("tells of no replica that stands still, and of none that has lost its own lease", () => {
  begin({ ...one, isAwake: false }, "a");
  begin(other, "a");
  begin(one, "b");
  begin(other, "b", { leadership: { isHeld: false } });
  expect(overlaps).toEqual([]);
});
