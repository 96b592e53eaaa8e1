import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, type ResourceLock, Shards, silentLogger } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait/strategies";

/** Number of slots. */
export const SLOTS = 6;

/** Instants of the run, in milliseconds. */
export const JOINS = 10_000;
export const DIES = 50_000;
export const ENDS = 80_000;

/** How long the keys of a slot are in flight when it is given up, in milliseconds. */
const IN_FLIGHT = 2_000;

/** Time between two looks of the picture at the slots, in milliseconds. */
const STEP = 100;

type Replica = "a" | "b";

/** A time in which a slot has one holder, in milliseconds. */
export interface Span {
  readonly slot: number;
  readonly holder: Replica;
  /** Whether the holder gives the slot up meanwhile: it ends the keys in flight. */
  readonly isGiving: boolean;
  readonly from: number;
  to: number;
}

/** Two replicas: a is alone, b joins, a is killed. */
export async function moves(seed: number): Promise<readonly Span[]> {
  const clock = new FakeClock();
  const locks = new Map<string, MemoryLock>();
  let isDead = false;
  const start = (identity: Replica): Shards => {
    const shards = new Shards({
      count: SLOTS,
      identity,
      lockOf: (name) => {
        const lock = locks.get(name) ?? new MemoryLock();
        locks.set(name, lock);
        return identity === "a" ? mortal(lock, () => isDead) : lock;
      },
      async lead({ signal }) {
        await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        await clock.sleep(IN_FLIGHT);
      },
      clock,
      random: seededRandom(seed),
      logger: silentLogger,
    });
    void shards.run(new AbortController().signal);
    return shards;
  };

  const replicas = new Map<Replica, Shards>([["a", start("a")]]);
  const spans: Span[] = [];
  for (let now = 0; now < ENDS; now += STEP) {
    if (now === JOINS) replicas.set("b", start("b"));
    isDead = now >= DIES;
    if (isDead) replicas.delete("a");
    await clock.step(STEP);
    for (const [holder, shards] of replicas) {
      const { held, giving } = shards.status();
      for (const slot of held)
        append(spans, { slot, holder, isGiving: giving.includes(slot), from: now, to: now + STEP });
    }
  }
  return spans;
}

/** Adds a span, or lengthens the one before it. */
function append(spans: Span[], next: Span): void {
  const last = spans.findLast(({ slot }) => slot === next.slot);
  const goesOn =
    last?.holder === next.holder && last.isGiving === next.isGiving && last.to === next.from;
  if (goesOn) last.to = next.to;
  else spans.push(next);
}

/** The lock of a process that may be killed: then it sends nothing. */
function mortal(lock: ResourceLock, isDead: () => boolean): ResourceLock {
  const alive = async <Value>(request: () => Promise<Value>): Promise<Value> =>
    isDead() ? await new Promise<Value>(() => {}) : await request();
  return {
    description: lock.description,
    get: (signal) => alive(() => lock.get(signal)),
    create: (record, signal) => alive(() => lock.create(record, signal)),
    update: (record, version, signal) => alive(() => lock.update(record, version, signal)),
  };
}
