/** Draws when there is news, and again and again in between: no frame is asked for that draws nothing. */
export class Redrawing {
  readonly #draw: (frame: number) => void;
  readonly #period: () => number;
  #isAsked = false;
  #timer: number | undefined;

  /**
   * @param draw - gets the time stamp of its frame
   * @param period - gives how long a drawing lasts without news, in milliseconds
   */
  constructor(draw: (frame: number) => void, period: () => number) {
    this.#draw = draw;
    this.#period = period;
  }

  /** Draws in the next frame; a hidden page has none. */
  readonly ask = (): void => {
    if (this.#isAsked) return;
    this.#isAsked = true;
    clearTimeout(this.#timer);
    requestAnimationFrame(this.#onFrame);
  };

  readonly #onFrame = (frame: number): void => {
    this.#isAsked = false;
    this.#timer = setTimeout(this.ask, this.#period());
    this.#draw(frame);
  };
}
