/** A write in progress. */
export interface OpenWrite {
  /** UID of the DnsRecord. */
  readonly owner: string;
  readonly token: number;
  /** Aborts when the sender closes its connection. */
  readonly gone: AbortSignal;
  /** Overlapping writes of the same record, still in progress. */
  readonly beside: Set<OpenWrite>;
}

/** Counts forbidden writes independently of the provider's own checks. */
export class WriteAudit {
  readonly #open = new Set<OpenWrite>();
  #accepted = 0;
  #newestToken = 0;
  #overlaps = 0;
  #stale = 0;
  #overlapped: string | undefined;

  /** Writes carried out. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Pairs of overlapping writes of one record. Must be 0. */
  get overlaps(): number {
    return this.#overlaps;
  }

  /** The first overlap. */
  get overlapped(): string | undefined {
    return this.#overlapped;
  }

  /** Writes carried out after a request with a higher token. Must be 0. */
  get stale(): number {
    return this.#stale;
  }

  /** Records the token of a request of any kind. */
  seen(token: number): void {
    this.#newestToken = Math.max(this.#newestToken, token);
  }

  begin(write: Omit<OpenWrite, "beside">): OpenWrite {
    const open: OpenWrite = { ...write, beside: new Set() };
    for (const other of this.#open) {
      if (other.owner !== open.owner) continue;
      other.beside.add(open);
      open.beside.add(other);
    }
    this.#open.add(open);
    return open;
  }

  /** Counts the overlaps of a write, unless it was refused or either sender closed its connection. */
  end(write: OpenWrite, isCarriedOut: boolean): void {
    this.#open.delete(write);
    for (const other of write.beside) {
      other.beside.delete(write);
      if (!isCarriedOut || write.gone.aborted || other.gone.aborted) continue;
      this.#overlaps += 1;
      this.#overlapped ??= `${write.owner} with tokens ${write.token} and ${other.token}`;
    }
    if (!isCarriedOut) return;
    this.#accepted += 1;
    if (write.token < this.#newestToken) this.#stale += 1;
  }
}
