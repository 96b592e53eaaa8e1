/** The recorded draws of a case, handed out again in their order. */
export class Uniforms {
  readonly #recorded: readonly number[];
  /** How many were asked for; more than there are shows in the comparison. */
  drawn = 0;

  constructor(recorded: readonly number[]) {
    this.#recorded = recorded;
  }

  readonly next = (): number => this.#recorded[this.drawn++] ?? 0;
}
