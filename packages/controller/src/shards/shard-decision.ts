import { hashOf } from "./slot-of.ts";

/**
 * What a replica may do with a slot.
 *
 * | State | Meaning |
 * | --- | --- |
 * | `"usable"` | anything |
 * | `"giving"` | an own one, whose work was asked to end |
 * | `"doubtful"` | a free one whose lock has refused a write: it is tried again, and counts for nobody |
 * | `"unusable"` | one whose lock cannot be read, or that the replica leaves to others: it counts for nobody |
 */
export type SlotState = "usable" | "giving" | "doubtful" | "unusable";

/** A slot, as one replica sees it. A lease that has run out counts as none. */
export interface SlotView {
  /** Who works on it. */
  readonly holder: string | undefined;
  /** Who has asked for it. */
  readonly wanter: string | undefined;
  /** How long it has been without a holder, in milliseconds; 0 with one. */
  readonly freeFor: number;
  /** Default: `"usable"`. */
  readonly state?: SlotState;
  /** Whether it may be asked for. Default: true. */
  readonly isAskable?: boolean;
}

/** Facts for {@link decideShards}. */
export interface ShardFacts {
  readonly identity: string;
  readonly slots: readonly SlotView[];
  /** Whether a slot is being given up, so that no other one is: its work has not ended. */
  readonly isGiving: boolean;
  /** How long a free slot is left to the replica that has asked for it, in milliseconds. */
  readonly patience: number;
}

/** What a replica does next. */
export interface ShardDecision {
  /** Free slots to take. */
  readonly take: readonly number[];
  /** An own slot to give up. */
  readonly give: number | undefined;
  /** A slot of another replica to ask for; a request that stands is repeated. */
  readonly ask: number | undefined;
}

/**
 * Decides which slots a replica takes, gives up and asks for. Every replica decides for itself, from the leases that it
 * sees; `n` are the replicas that hold or want a slot, and itself.
 *
 * | Situation | Decision |
 * | --- | --- |
 * | a slot is free, and the replica has less than `ceil(count / n)` | takes it, unless another one has asked for it a moment ago |
 * | no slot is free; it has less than `floor(count / n)`, or less than `ceil` while another one has more than `ceil` | asks the replica with the most slots for one |
 * | another one asks for a slot of it, and it has more than `floor` | gives that slot up, one at a time |
 *
 * `count` are the slots that the replica can use: a lock that fails must not hold up the others.
 */
export function decideShards(facts: ShardFacts): ShardDecision {
  const { identity, slots, isGiving, patience } = facts;
  const shares = sharesOf(facts);
  const own = shares.get(identity) as number; // itself is always there
  const usable = slots.filter(isUsable).length;
  const floor = Math.floor(usable / shares.size);
  const ceil = Math.ceil(usable / shares.size);

  const preferred = preferenceOf(identity, slots);
  const isAskedByOther = ({ wanter }: SlotView) => wanter !== undefined && wanter !== identity;
  const isFree = ({ holder }: SlotView) => holder === undefined;
  const isOpen = (slot: SlotView) => !isAskedByOther(slot) || slot.freeFor >= patience;
  const free = preferred.filter((slot) => isFree(slot) && isUsable(slot));
  const taken = free.filter(isOpen).slice(0, Math.max(0, ceil - own));
  const doubtful = preferred.filter((slot) => slot.state === "doubtful" && isFree(slot));
  const places = Math.ceil((usable + doubtful.length) / shares.size) - own - taken.length;
  const tried = doubtful.filter(isOpen).slice(0, Math.max(0, places));

  const isAsked = (slot: SlotView) =>
    slot.holder === identity && isAskedByOther(slot) && slot.state !== "giving";
  const asked = slots.findIndex(isAsked);
  const give = asked >= 0 && own > floor && !isGiving ? asked : undefined;

  const most = Math.max(...shares.values());
  const lacksOne = own < floor || (own < ceil && most > ceil);
  const ask =
    lacksOne && free.length === 0 ? requestOf(facts, preferred, shares, floor) : undefined;
  return { take: [...taken, ...tried].map(({ number }) => number), give, ask };
}

/** Whether a slot counts, for its holder or as free. */
function isUsable({ state = "usable" }: SlotView): boolean {
  return state === "usable" || state === "giving";
}

/** The slot to ask for: the one that was asked for before, while its holder can give it, or one of a richest holder. */
function requestOf(
  { identity }: ShardFacts,
  preferred: readonly NumberedSlot[],
  shares: ReadonlyMap<string, number>,
  floor: number,
): number | undefined {
  const shareOf = ({ holder }: SlotView): number => shares.get(holder as string) as number; // none is free
  const askable = preferred.filter((slot) => isUsable(slot) && slot.isAskable !== false);
  const standing = askable.find(({ wanter }) => wanter === identity);
  if (standing !== undefined && shareOf(standing) > floor) return standing.number;
  const unasked = askable.filter(({ wanter }) => wanter === undefined);
  const most = Math.max(...unasked.map(shareOf));
  return unasked.find((slot) => shareOf(slot) === most)?.number;
}

interface NumberedSlot extends SlotView {
  readonly number: number;
}

/** How many slots each replica has. Who wants its first one has none. */
function sharesOf({ identity, slots }: ShardFacts): Map<string, number> {
  const shares = new Map([[identity, 0]]);
  for (const slot of slots) {
    const { holder, wanter } = slot;
    if (holder !== undefined && isUsable(slot)) shares.set(holder, (shares.get(holder) ?? 0) + 1);
    if (wanter !== undefined && !shares.has(wanter)) shares.set(wanter, 0);
  }
  return shares;
}

/** All slots: first the one that the replica has asked for, then by an order of its own that never changes. */
function preferenceOf(identity: string, slots: readonly SlotView[]): NumberedSlot[] {
  return slots
    .map((slot, number) => ({ ...slot, number, rank: rankOf(slot, number, identity) }))
    .sort((a, b) => a.rank - b.rank);
}

function rankOf({ wanter }: SlotView, number: number, identity: string): number {
  return wanter === identity ? -1 : hashOf(`${number}/${identity}`);
}
