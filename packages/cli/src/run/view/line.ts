/** How a line is meant; a view chooses the colour. */
export type Tone = "good" | "warning" | "bad" | "plain";

/** One line about one change. */
export interface Line {
  /** The process; undefined for the supervisor. */
  readonly who: string | undefined;
  readonly text: string;
  readonly tone: Tone;
}
