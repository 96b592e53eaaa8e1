const SSL_REQUEST = 80_877_103;

/** A message of PostgreSQL's protocol, from a client. */
export interface Frame {
  /** Undefined for the two that come before all others and have none. */
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

/**
 * Splits the bytes of a client into messages of PostgreSQL's protocol, version 3.
 *
 * Source: https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export class Frames {
  #buffer: Buffer = Buffer.alloc(0);
  #isStarted = false;

  /** @returns the messages that are whole now */
  *add(chunk: Buffer): Generator<Frame> {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#buffer.length < head + 4) return;
      const length = head + this.#buffer.readUInt32BE(head);
      if (this.#buffer.length < length) return;
      const bytes = this.#buffer.subarray(0, length);
      this.#buffer = this.#buffer.subarray(length);
      const type = this.#isStarted ? bytes.toString("latin1", 0, 1) : undefined;
      yield { type, bytes };
      // After a request for encryption, which is refused, the client begins again.
      if (type === undefined) this.#isStarted = !isSslRequest(bytes);
    }
  }
}

export function isSslRequest(bytes: Buffer): boolean {
  return bytes.length === 8 && bytes.readUInt32BE(4) === SSL_REQUEST;
}
