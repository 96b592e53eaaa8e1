/** A step of a replica that can be cut: a request, or a call of a linked system. */
export interface Step {
  /** Number of the step in its world, from 1. */
  readonly number: number;
  /** Text of the step, for example `PATCH greetings/status default/ann`. */
  readonly text: string;
  /** Milliseconds since the begin of the world. */
  readonly at: number;
  /** Number of the replica, from 1. */
  readonly replica: number;
  /** Types of the faults that fit it. */
  readonly faults: readonly string[];
}

/** A step that faults can meet. */
export interface StepOptions<Value = unknown> {
  /** Text of the step in reports. */
  readonly text: string;

  /**
   * Whether the program may crash before the step, and after it.
   *
   * @defaultValue `["before", "after"]`
   */
  readonly crashes?: readonly ("before" | "after")[] | undefined;

  /**
   * Faults beside crashes, by type. Each gets the function that does the step, and calls it or not.
   *
   * @defaultValue none
   */
  readonly faults?:
    | Readonly<Record<string, (perform: () => Promise<Value>) => Promise<Value>>>
    | undefined;
}
