import type { Socket } from "node:net";
import type { PGlite } from "@electric-sql/pglite";
import { type Frame, Frames, isSslRequest } from "./frames.ts";
import type { Turns } from "./turns.ts";

/** Status of a database that waits for the next query, outside of a transaction. */
const IDLE = "I".charCodeAt(0);

/**
 * One client of a PGlite. From the first message of a query on it has the only session there is, until
 * the query, or the transaction, has ended. If it goes in the middle, its transaction is rolled back.
 */
export class WireConnection {
  readonly #socket: Socket;
  readonly #pglite: PGlite;
  readonly #turns: Turns;
  #hasTurn = false;
  #lastByte: number | undefined;

  constructor(socket: Socket, pglite: PGlite, turns: Turns) {
    this.#socket = socket;
    this.#pglite = pglite;
    this.#turns = turns;
  }

  /** Serves until the client goes, or the socket is destroyed. */
  async serve(): Promise<void> {
    const frames = new Frames();
    try {
      for await (const chunk of this.#socket) await this.#takeAll(frames.add(chunk));
    } catch {
      // The client died.
    } finally {
      await this.#leave();
      this.#socket.destroy();
    }
  }

  async #takeAll(frames: Iterable<Frame>): Promise<void> {
    for (const frame of frames) await this.#take(frame);
  }

  async #take({ type, bytes }: Frame): Promise<void> {
    if (type === "X") return; // The client closes the connection next.
    if (type === undefined && isSslRequest(bytes)) {
      this.#socket.write("N");
      return;
    }
    if (!this.#hasTurn) await this.#turns.begin();
    this.#hasTurn = true;
    await this.#pglite.execProtocolRawStream(bytes, { onRawData: (data) => this.#respond(data) });
    // These, and the first one, are followed by "ready for query", whose last byte tells of the transaction.
    const isOver = type === undefined || type === "Q" || type === "S";
    if (isOver && this.#lastByte === IDLE) this.#endTurn();
  }

  #respond(data: Uint8Array): void {
    this.#lastByte = data.at(-1) ?? this.#lastByte;
    // The next response overwrites this buffer.
    if (this.#socket.writable) this.#socket.write(Buffer.from(data));
  }

  async #leave(): Promise<void> {
    if (!this.#hasTurn) return;
    await this.#pglite.exec("ROLLBACK"); // Only a warning where no transaction is open.
    this.#endTurn();
  }

  #endTurn(): void {
    this.#hasTurn = false;
    this.#turns.end();
  }
}
