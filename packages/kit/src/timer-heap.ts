/** An entry of a {@link TimerHeap}, which assigns the slot. */
export interface HeapEntry {
  heapSlot: number;
}

const NEVER = Number.POSITIVE_INFINITY;

const MINIMUM_SLOTS = 16;
const MAXIMUM_IDLE_SLOTS = 1_024;

/**
 * A 4-ary heap by (deadline, order) that can remove any entry. Sorting reads and writes typed arrays
 * only; an entry object is touched only when it enters and leaves. An entry keeps one slot while it is
 * in the heap, and `#places` maps that slot to its place.
 *
 * Places from `#size` on hold the free slots. Their deadline is `Infinity`, so four children can be
 * compared even if fewer exist.
 */
export class TimerHeap<Entry extends HeapEntry> {
  #size = 0;
  /** By place. */
  #deadlines!: Float64Array;
  /** The slot at each place. */
  #slots!: Int32Array;
  /** The place of each taken slot: the inverse of `#slots`. */
  #places!: Int32Array;
  /** By slot: read only for equal deadlines, so it need not move. */
  #orders!: Float64Array;
  /** By slot. */
  #entries!: (Entry | undefined)[];

  constructor() {
    this.#allocate();
  }

  get size(): number {
    return this.#size;
  }

  /** The earliest deadline; `Infinity` if there is none. */
  get deadline(): number {
    return this.#deadlines[0] as number;
  }

  /** The order of the earliest entry; there must be one. */
  get order(): number {
    return this.#orders[this.#slots[0] as number] as number;
  }

  push(entry: Entry, deadline: number, order: number): void {
    const place = this.#size++;
    if (this.#size + 3 > this.#slots.length) this.#widen();
    const slot = this.#slots[place] as number;
    this.#entries[slot] = entry;
    this.#orders[slot] = order;
    entry.heapSlot = slot;
    this.#rise(place, slot, deadline);
  }

  /**
   * Removes and returns the earliest entry; there must be one. Does not read it, so its cache miss
   * comes after the sorting.
   */
  pop(): Entry {
    const slot = this.#slots[0] as number;
    const first = this.#entries[slot] as Entry;
    this.#vacate(0, slot);
    return first;
  }

  /** Removes an entry that is in the heap. */
  remove(entry: Entry): void {
    const slot = entry.heapSlot;
    this.#vacate(this.#places[slot] as number, slot);
  }

  /** The deadline of an entry that is in the heap. */
  deadlineOf(entry: Entry): number {
    return this.#deadlines[this.#places[entry.heapSlot] as number] as number;
  }

  /** All entries in the order of {@link TimerHeap.pop}. */
  sorted(): Entry[] {
    const orders = this.#orders;
    const taken = Array.from(this.#slots.subarray(0, this.#size), (slot, place) => ({
      slot,
      deadline: this.#deadlines[place] as number,
    }));
    taken.sort((a, b) => {
      if (a.deadline !== b.deadline) return a.deadline - b.deadline;
      return (orders[a.slot] as number) - (orders[b.slot] as number);
    });
    return taken.map(({ slot }) => this.#entries[slot] as Entry);
  }

  /** Frees a slot, and fills its place with the last one. */
  #vacate(place: number, slot: number): void {
    const end = --this.#size;
    const last = this.#slots[end] as number;
    const deadline = this.#deadlines[end] as number;
    this.#entries[slot] = undefined;
    this.#slots[end] = slot;
    this.#deadlines[end] = NEVER;
    if (place !== end) this.#rise(this.#sink(place), last, deadline);
    if (end === 0 && this.#slots.length > MAXIMUM_IDLE_SLOTS) this.#allocate();
  }

  // Reading the fields once per call, outside the loops below, halves their time.

  #rise(start: number, slot: number, deadline: number): void {
    const deadlines = this.#deadlines;
    const slots = this.#slots;
    const places = this.#places;
    const orders = this.#orders;
    const order = orders[slot] as number;
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const above = deadlines[parent] as number;
      const moved = slots[parent] as number;
      if (above < deadline || (above === deadline && (orders[moved] as number) < order)) break;
      deadlines[place] = above;
      slots[place] = moved;
      places[moved] = place;
      place = parent;
    }
    deadlines[place] = deadline;
    slots[place] = slot;
    places[slot] = place;
  }

  /** Moves a gap down to a leaf: the entry that fills it came from a leaf and rarely belongs higher. */
  #sink(start: number): number {
    const deadlines = this.#deadlines;
    const slots = this.#slots;
    const places = this.#places;
    const size = this.#size;
    let place = start;
    for (let child = place * 4 + 1; child < size; child = place * 4 + 1) {
      const left = this.#earlier(child, child + 1);
      const right = this.#earlier(child + 2, child + 3);
      const next = this.#earlier(left, right);
      const moved = slots[next] as number;
      deadlines[place] = deadlines[next] as number;
      slots[place] = moved;
      places[moved] = place;
      place = next;
    }
    return place;
  }

  /** The earlier of two places. Branch-free, because the branch would be unpredictable. */
  #earlier(left: number, right: number): number {
    const a = this.#deadlines[left] as number;
    const b = this.#deadlines[right] as number;
    if (a === b) return this.#isSwapped(left, right) ? right : left;
    return left + (right - left) * Number(b < a);
  }

  /** Whether the right one of two places with equal deadlines comes first. */
  #isSwapped(left: number, right: number): boolean {
    if (right >= this.#size) return false;
    const orders = this.#orders;
    const slots = this.#slots;
    return (orders[slots[right] as number] as number) < (orders[slots[left] as number] as number);
  }

  /** Allocates the minimum, which frees the memory after a million entries have left. */
  #allocate(): void {
    this.#deadlines = new Float64Array(MINIMUM_SLOTS).fill(NEVER);
    this.#slots = Int32Array.from({ length: MINIMUM_SLOTS }, (_, slot) => slot);
    this.#places = new Int32Array(MINIMUM_SLOTS);
    this.#orders = new Float64Array(MINIMUM_SLOTS);
    this.#entries = [];
  }

  #widen(): void {
    const size = this.#slots.length;
    this.#deadlines = widened(this.#deadlines, new Float64Array(size * 2)).fill(NEVER, size);
    this.#orders = widened(this.#orders, new Float64Array(size * 2));
    this.#places = widened(this.#places, new Int32Array(size * 2));
    this.#slots = widened(this.#slots, new Int32Array(size * 2));
    for (let slot = size; slot < size * 2; slot++) this.#slots[slot] = slot;
  }
}

function widened<Numbers extends Float64Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
