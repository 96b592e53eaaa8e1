/** A line of the log that a page shows. */
export interface LogEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The process it is about; undefined if it is about the whole. */
  readonly name: string | undefined;
  readonly text: string;
}
