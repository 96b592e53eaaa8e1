/** Counts of frames. Every offered frame is delivered, dropped or still pending. */
export class Tally {
  /** Frames that a station had to send. */
  offered = 0;
  delivered = 0;
  /** Frames that were given up. */
  dropped = 0;
  /** Attempts that ended in a collision. */
  collisions = 0;
  /** Frames delivered by the station that had also delivered the one before. */
  repeats = 0;
  #last: number | undefined = undefined;

  deliver(station: number): void {
    this.delivered++;
    if (station === this.#last) this.repeats++;
    this.#last = station;
  }
}
