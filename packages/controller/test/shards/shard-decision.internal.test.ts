import { slotOf } from "@holdfast/controller";
import { describe, expect, inject, it } from "vitest";
import { decideShards, type SlotView } from "../../src/shards/shard-decision.ts";

const PATIENCE = 4_000;

const STATES = { "!": "unusable", "?": "doubtful", "-": "giving" } as const;

/**
 * Slots from letters: `a` is held by a, `.` is free, `a<b` is held by a and wanted by b, `.<b` is free and wanted by b.
 * Behind it `!` is unusable, `?` is doubtful, `-` is being given up, and `~` cannot be asked for.
 */
function slotsOf(text: string, freeFor = 0): SlotView[] {
  return text.split(" ").map((word) => {
    const [, plain = word, mark] = /^(.*?)([!?~-])?$/.exec(word) ?? [];
    const [holder = ".", wanter] = plain.split("<");
    return {
      holder: holder === "." ? undefined : holder,
      wanter,
      freeFor: holder === "." ? freeFor : 0,
      ...(mark === undefined || mark === "~"
        ? { isAskable: mark === undefined }
        : { state: STATES[mark as keyof typeof STATES] }),
    };
  });
}

const decide = (identity: string, text: string, { freeFor = 0, isGiving = false } = {}) =>
  decideShards({ identity, slots: slotsOf(text, freeFor), isGiving, patience: PATIENCE });

describe("decideShards", () => {
  it.each<[string, string, number]>([
    ["the first replica takes all", ". . . .", 4],
    ["half, beside a replica that holds one", "b . . .", 2],
    ["no more than the larger share of three replicas", "b c . . .", 2],
    ["none if it has its share", "a a b .", 0],
    ["one of four, if four replicas hold or want a slot", "b<c d . .", 1],
  ])("takes free slots: %s", (_, text, count) => {
    const { take, ask } = decide("a", text);
    expect([take.length, ask]).toEqual([count, undefined]);
    for (const slot of take) expect(text.split(" ")[slot]).toBe(".");
  });

  it.each<[string, string, number[], number | undefined]>([
    ["an unusable slot is not taken, and counts for nobody", "b! b! . .", [2, 3], undefined],
    ["an unusable free slot is not taken", "b .! .", [2], undefined],
    ["a request is made although an unusable slot is free", ".! b b b", [], 1],
    ["a slot that cannot be asked for is not asked for", "b~ b~ b", [], 2],
    ["a doubtful slot is tried when no other is free", "a a b b .?", [4], undefined],
    ["a doubtful slot is tried beside the others", ". . .?", [0, 1, 2], undefined],
    ["a doubtful slot is left to the one with less", "a a b .?", [], undefined],
    ["a request is made although a doubtful slot is free", "b b .?", [2], 0],
  ])("failing locks: %s", (_, text, take, ask) => {
    const decision = decide("a", text);
    expect([...decision.take].sort()).toEqual(take);
    expect(decision.ask === undefined ? undefined : text.split(" ")[decision.ask]).toEqual(
      ask === undefined ? undefined : text.split(" ")[ask],
    );
  });

  it("gives up another slot than the one whose work does not end", () => {
    expect(decide("a", "a<b- a a<c a").give).toBe(2);
    expect(decide("a", "a<b- a a<c a", { isGiving: true }).give).toBeUndefined();
  });

  it("leaves a free slot to the replica that has asked for it, for a while", () => {
    expect(decide("a", "b .<b", { freeFor: PATIENCE - 1 }).take).toEqual([]);
    expect(decide("a", "b .<c", { freeFor: PATIENCE }).take).toEqual([1]);
    expect(decide("c", "b a .<c .", { freeFor: 0 }).take[0]).toBe(2);
  });

  it("returns to the same slots, whatever is free beside them", () => {
    const all = decide("a", "b . . . . . . .").take;
    const fewer = decide("a", "b c . . . . . .").take;
    expect(fewer).toEqual(all.filter((slot) => slot !== 1).slice(0, fewer.length));
  });

  it.each<[string, string, string | undefined]>([
    ["one without a slot asks the replica with the most", "b b b c c", "b"],
    ["one with less than its share asks", "a b b b", "b"],
    [
      "one with the smaller share does not ask if nobody has more than the larger",
      "a a b b b",
      undefined,
    ],
    ["one with the smaller share asks if one has more than the larger", "a a b b b b c d d d", "b"],
    ["nobody asks while a slot is free", ". b b b", undefined],
    ["nobody asks if there are more replicas than slots", "b c", undefined],
  ])("asks: %s", (_, text, holder) => {
    const { ask } = decide("a", text);
    expect(ask === undefined ? undefined : text.split(" ")[ask]).toBe(holder);
  });

  it("repeats its request while the holder can give", () => {
    const text = "b b<a b b";
    expect(decide("a", text).ask).toBe(1);
    expect(decide("a", "b b<a c c c c").ask).not.toBe(1);
  });

  it("asks for a slot that nobody else has asked for", () => {
    expect(decide("a", "b<c b<d b b<e b<f").ask).toBe(2);
    expect(decide("a", "b<c b<d b<e").ask).toBeUndefined();
  });

  it.each<[string, string, boolean, number | undefined]>([
    ["a slot that another one has asked for", "a a<b a a", false, 1],
    ["one at a time", "a a<b a a", true, undefined],
    ["none of its smaller share", "a<c b c", false, undefined],
    ["not its own request", "a a a", false, undefined],
  ])("gives up %s", (_, text, isGiving, slot) => {
    expect(decide("a", text, { isGiving }).give).toBe(slot);
  });
});

/** Replicas in turns, without time in a turn: only the rules. */
function settle(shares: readonly number[], count: number): { moves: number; shares: number[] } {
  const names = shares.map((_, index) => `r${index}`);
  const slots: { holder: string | undefined; wanter: string | undefined; freeFor: number }[] =
    names.flatMap((holder, index) =>
      Array.from({ length: shares[index] ?? 0 }, () => ({ holder, wanter: undefined, freeFor: 0 })),
    );
  while (slots.length < count)
    slots.push({ holder: undefined, wanter: undefined, freeFor: PATIENCE });
  let moves = 0;
  let before = "";
  // Until a turn changes nothing.
  for (let turn = 0; turn < 10 * count && JSON.stringify(slots) !== before; turn++) {
    before = JSON.stringify(slots);
    for (const identity of names) {
      const decision = decideShards({ identity, slots, isGiving: false, patience: PATIENCE });
      for (const slot of slots) if (slot.wanter === identity) slot.wanter = undefined;
      for (const number of decision.take) {
        Object.assign(slots[number] ?? {}, { holder: identity, freeFor: 0 });
        moves++;
      }
      const given = slots[decision.give ?? -1];
      if (given !== undefined) given.holder = undefined;
      const asked = slots[decision.ask ?? -1];
      if (asked !== undefined) asked.wanter = identity;
    }
  }
  const sharesNow = names.map((name) => slots.filter(({ holder }) => holder === name).length);
  return { moves, shares: sharesNow };
}

describe("the rules alone", () => {
  it.each([1, 3, 8, 16, ...(inject("isAll") ? [64] : [])])(
    "make shares of %i slots even, with few moves",
    (count) => {
      for (let replicas = 1; replicas <= 7; replicas++) {
        const even = (many: number) =>
          Array.from({ length: many }, (_, index) => Math.floor((count + index) / many));
        const starts = {
          nothing: Array(replicas).fill(0),
          even: even(replicas),
          join: [...even(replicas - 1 || 1), 0].slice(0, replicas),
          leave: even(replicas + 1).slice(0, replicas),
          "one has all": [count, ...Array(replicas - 1).fill(0)],
        };
        for (const [name, start] of Object.entries(starts)) {
          const { moves, shares } = settle(start, count);
          expect([name, shares.reduce((sum, share) => sum + share, 0)]).toEqual([name, count]);
          expect([name, Math.max(...shares) - Math.min(...shares) <= 1]).toEqual([name, true]);
          const share = Math.ceil(count / replicas);
          const most = { even: 0, join: 2 * share, leave: 2 * share }[name] ?? Infinity;
          expect([name, replicas, moves <= most]).toEqual([name, replicas, true]);
        }
      }
    },
  );
});

describe("slotOf", () => {
  // From another implementation of the two published functions.
  it.each([
    ["default/ann", 16, 15],
    ["default/bob", 16, 9],
    ["ü/名", 1_024, 542],
    ["a", 1, 0],
  ])("puts %j into one of %i slots: %i", (key, count, slot) => {
    expect(slotOf(key, count)).toBe(slot);
  });

  it("spreads keys that differ in a number at their end", () => {
    for (const prefix of ["default/obj-", "team-", "x"]) {
      const keys = Array(16).fill(0) as number[];
      for (let index = 0; index < 1_600; index++) {
        const slot = slotOf(`${prefix}${index}`, 16);
        keys[slot] = (keys[slot] ?? 0) + 1;
      }
      // 100 are expected in each, and 60 to 140 are four standard deviations.
      expect(Math.min(...keys)).toBeGreaterThan(60);
      expect(Math.max(...keys)).toBeLessThan(140);
    }
  });
});
