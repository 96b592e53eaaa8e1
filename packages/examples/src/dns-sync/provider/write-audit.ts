/** A write under way. */
export interface OpenWrite {
  /** UID of the DnsRecord. */
  readonly owner: string;
  readonly token: number;
  /** Aborts when its sender has given it up. */
  readonly gone: AbortSignal;
  readonly beside: Set<OpenWrite>;
}

/** Sees writes that must not be. It knows nothing of what the provider refuses. */
export class WriteAudit {
  readonly #open = new Set<OpenWrite>();
  #accepted = 0;
  #newestToken = 0;
  #overlaps = 0;
  #stale = 0;
  #overlapped: string | undefined;

  /** Writes that were carried out. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Must be 0: writes of a record that began while another sender's write of it was under way. */
  get overlaps(): number {
    return this.#overlaps;
  }

  /** The first overlap. */
  get overlapped(): string | undefined {
    return this.#overlapped;
  }

  /** Must be 0: writes carried out although a later leader had asked before. */
  get stale(): number {
    return this.#stale;
  }

  /** A request of any kind has come. */
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

  /** A write that its sender gave up meanwhile is nobody's: it overlaps with none. */
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
