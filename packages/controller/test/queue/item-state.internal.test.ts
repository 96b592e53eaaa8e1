import { describe, expect, it } from "vitest";
import {
  type ItemState,
  isDelayed,
  whenAdded,
  whenCancelled,
  whenDone,
  whenPostponed,
} from "../../src/queue/item-state.ts";

describe("a key that is", () => {
  it.each<[ItemState, ItemState, ItemState, ItemState, ItemState, boolean]>([
    // is, added, postponed, done, cancelled, whether it waits for its time
    ["idle", "queued", "delayed", "idle", "idle", false],
    ["delayed", "queued", "delayed", "delayed", "idle", true],
    ["queued", "queued", "queued", "queued", "queued", false],
    ["processing", "processing+dirty", "processing+delayed", "idle", "processing", false],
    ["processing+delayed", "processing+dirty", "processing+delayed", "delayed", "processing", true],
    [
      "processing+dirty",
      "processing+dirty",
      "processing+dirty",
      "queued",
      "processing+dirty",
      false,
    ],
  ])("%s becomes, added %s, postponed %s, done %s, cancelled %s", (state, ...want) => {
    expect([
      whenAdded(state),
      whenPostponed(state),
      whenDone(state),
      whenCancelled(state),
      isDelayed(state),
    ]).toEqual(want);
  });
});
