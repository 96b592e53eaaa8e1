import { Arbitrary, type Random, type Stream, type Value } from "fast-check";

const MAX_DRAWS = 1_000;

/** The values of an arbitrary that are accepted. Unlike `filter`, it gives up: with the error of `giveUp`. */
export class Bounded<T> extends Arbitrary<T> {
  readonly #all: Arbitrary<T>;
  readonly #accepts: (value: T) => boolean;
  readonly #giveUp: (draws: number) => Error;

  constructor(all: Arbitrary<T>, accepts: (value: T) => boolean, giveUp: (draws: number) => Error) {
    super();
    this.#all = all;
    this.#accepts = accepts;
    this.#giveUp = giveUp;
  }

  override generate(random: Random, bias: number | undefined): Value<T> {
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const drawn = this.#all.generate(random, bias);
      if (this.#accepts(drawn.value)) return drawn;
    }
    throw this.#giveUp(MAX_DRAWS);
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#all.canShrinkWithoutContext(value) && this.#accepts(value);
  }

  override shrink(value: T, context: unknown): Stream<Value<T>> {
    return this.#all.shrink(value, context).filter((smaller) => this.#accepts(smaller.value));
  }
}
