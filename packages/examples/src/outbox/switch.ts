/** A service that can be taken away from the workers, and brought back. */
export interface Switch {
  readonly state: "there" | "away";
  /** Breaks all connections, and every new one at once. */
  takeAway(): void;
  bringBack(): void;
}
