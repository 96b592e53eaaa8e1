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
  /** Whether it only reads. */
  readonly reads: boolean;
  /** Whether it only tells users about the work. */
  readonly reports: boolean;
  /** What came of it, in words. Undefined until then, and for a step without an outcome. */
  outcome?: string | undefined;
  /** Whether it was carried out. */
  isDone?: boolean;
}

/** What came of a step. */
export interface StepOutcome {
  /** In words, for reports: `409 AlreadyExists`. */
  readonly text: string;

  /**
   * Whether the system refused to carry it out.
   *
   * @defaultValue `false`
   */
  readonly isRefused?: boolean | undefined;
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

  /**
   * Whether the step only reads. A program all of whose steps only read, and that has no reconcile of `watch`, does
   * nothing, and is reported.
   *
   * @defaultValue `false`
   */
  readonly reads?: boolean | undefined;

  /**
   * Whether the step only tells users about the work, such as a write of a status. A program that answers the last change
   * with such steps alone has refused it, and may keep the result of an earlier change.
   *
   * @defaultValue `false`
   */
  readonly reports?: boolean | undefined;

  /**
   * Instant of the news that the step brings, on the monotonic clock of the world. A reconcile that begins with late news
   * has seen what was there at that instant.
   *
   * @defaultValue none: the step brings no news
   */
  readonly since?: number | undefined;

  /**
   * What came of the step, for reports.
   *
   * @defaultValue the value as JSON
   */
  readonly outcomeOf?: ((value: Value) => StepOutcome) | undefined;
}

/** A line between the steps of a world: of a log, or of the explorer. */
export interface Note {
  readonly text: string;
  /** Whether a log has it. If not, it says how the replica is from then on: who leads, who is gone. */
  readonly isLog: boolean;
  /** Number of the step before it. */
  readonly after: number;
  readonly at: number;
  readonly replica: number;
}
