/** A delayed key of Go's queue. */
export interface Waiting {
  readonly key: number;
  at: number;
  /** When it got this time, counted. */
  order: number;
}

/** Go's container/heap over the delayed keys: among equal times its order is that of its swaps. */
export class WaitingHeap {
  readonly #heap: Waiting[] = [];
  #order = 0;

  /** Adds a key, or moves it to an earlier time. */
  insert(key: number, at: number): void {
    const index = this.#heap.findIndex((waiting) => waiting.key === key);
    const known = this.#heap[index];
    if (known === undefined) {
      this.#heap.push({ key, at, order: this.#order++ });
      this.#up(this.#heap.length - 1);
    } else if (at < known.at) {
      known.at = at;
      known.order = this.#order++;
      if (!this.#down(index, this.#heap.length)) this.#up(index);
    }
  }

  remove(key: number): void {
    const index = this.#heap.findIndex((waiting) => waiting.key === key);
    if (index < 0) return;
    const last = this.#heap.length - 1;
    this.#swap(index, last);
    this.#heap.pop();
    if (index < last && !this.#down(index, last)) this.#up(index);
  }

  takeDue(now: number): Waiting[] {
    const due: Waiting[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      const last = this.#heap.length - 1;
      this.#swap(0, last);
      this.#down(0, last);
      this.#heap.pop();
      due.push(first);
    }
    return due;
  }

  #less(i: number, j: number): boolean {
    return this.#at(i).at < this.#at(j).at;
  }

  #at(index: number): Waiting {
    return this.#heap[index] as Waiting;
  }

  #swap(i: number, j: number): void {
    [this.#heap[i], this.#heap[j]] = [this.#at(j), this.#at(i)];
  }

  #up(from: number): void {
    for (let j = from; j > 0; ) {
      const parent = (j - 1) >> 1;
      if (!this.#less(j, parent)) break;
      this.#swap(parent, j);
      j = parent;
    }
  }

  #down(from: number, length: number): boolean {
    let i = from;
    for (let left = 2 * i + 1; left < length; left = 2 * i + 1) {
      const child = left + 1 < length && this.#less(left + 1, left) ? left + 1 : left;
      if (!this.#less(child, i)) break;
      this.#swap(i, child);
      i = child;
    }
    return i > from;
  }
}
