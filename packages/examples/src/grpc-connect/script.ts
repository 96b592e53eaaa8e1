import type { Behaviour, Peer } from "./peer.ts";

/** One behaviour of the peer, and how long it lasts. */
export interface Act {
  readonly behaviour: Behaviour;
  /** How many attempts it lets fail; one that accepts goes on until it has accepted. */
  readonly attempts: number;
}

/** Every fate of an attempt. Each act ends with the death of the peer. */
export const SCRIPT: readonly Act[] = [
  { behaviour: "refuse", attempts: 2 },
  { behaviour: "hang", attempts: 2 },
  { behaviour: "reset", attempts: 1 },
  { behaviour: "accept", attempts: Number.POSITIVE_INFINITY },
  { behaviour: "refuse", attempts: 2 },
  { behaviour: "accept", attempts: Number.POSITIVE_INFINITY },
];

/** Has a peer play a script. */
export class ScriptedPeer {
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
