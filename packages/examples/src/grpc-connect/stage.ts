import type { Behaviour, Peer } from "./peer.ts";
import type { Act } from "./script.ts";

/** Has a peer play a script. */
export class Stage {
  readonly #peer: Peer;
  readonly #script: readonly Act[];
  #index = 0;
  #failed = 0;

  constructor(peer: Peer, script: readonly Act[]) {
    this.#peer = peer;
    this.#script = script;
  }

  /** The current behaviour of the peer; `refuse` after the end of the script. */
  get behaviour(): Behaviour {
    return this.#script[this.#index]?.behaviour ?? "refuse";
  }

  get isOver(): boolean {
    return this.#index >= this.#script.length;
  }

  /** Begins; resolves when the peer is ready. */
  async open(): Promise<void> {
    await this.#peer.become(this.behaviour);
  }

  /** An attempt has failed. Resolves when the peer is ready for the next one. */
  async attemptFailed(): Promise<void> {
    const act = this.#script[this.#index];
    if (act !== undefined && ++this.#failed >= act.attempts) await this.advance();
  }

  /** Kills the peer and goes on to the next act. Resolves when the peer is ready for it. */
  async advance(): Promise<void> {
    this.#failed = 0;
    this.#index++;
    await this.#peer.become(this.behaviour);
  }
}
