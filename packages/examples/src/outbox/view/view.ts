import type { createColors } from "picocolors";
import type { Progress } from "../progress.ts";

export type Colours = ReturnType<typeof createColors>;

/** Shows a person how a run is getting on. */
export interface View {
  show(progress: Progress): void;
  /** Stops, and leaves the last frame on the screen. */
  close(): void;
}
