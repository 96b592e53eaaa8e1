/** An attempt of a reconcile. */
export interface Attempt {
  /** Controller and key. */
  readonly label: string;
  /** Instant at which it began. */
  readonly at: number;
  /** Instant of the news with which it began, if they came late. */
  readonly since?: number | undefined;
  hasSucceeded: boolean;
  /** Whether the state has changed while it ran. */
  hasChanged?: boolean;
}

/** When the reconciles of a healthy run begin, as behind busy workers. */
export interface Schedule {
  /** Instants, by label: a reconcile that is due waits for the next of them. */
  readonly begins: ReadonlyMap<string, readonly number[]>;
  /** After the last of them, reconciles wait for this instant. */
  readonly rest: number;
  /** Those that are due before it begin at once. */
  readonly from: number;
}

/** The instant at which a reconcile may begin that is due now. */
export function beginOf(label: string, now: number, { begins, rest, from }: Schedule): number {
  if (now < from) return now;
  return begins.get(label)?.find((instant) => instant >= now) ?? Math.max(now, rest);
}

/** Reconciles begin when the effective ones of a world did: healthy, and as late. Others wait for the end of the users. */
export function lateAs(
  effective: readonly Attempt[],
  { rest, from }: Pick<Schedule, "rest" | "from">,
): Schedule {
  return { begins: byLabel(effective), rest, from };
}

/**
 * Attempts of a world that may have had the effect of their key: those that succeed, or those that change the state too;
 * and the same at the instants of their news.
 */
export function effectiveOf(attempts: readonly Attempt[]): readonly (readonly Attempt[])[] {
  const succeeds = attempts.filter(({ hasSucceeded }) => hasSucceeded);
  const changes = attempts.filter(({ hasSucceeded, hasChanged }) => hasSucceeded || hasChanged);
  const effective = changes.length === succeeds.length ? [succeeds] : [succeeds, changes];
  if (attempts.every(({ since }) => since === undefined)) return effective;
  const timely = effective.map((all) => all.map((one) => ({ ...one, at: one.since ?? one.at })));
  return [...effective, ...timely];
}

/**
 * Reconciles begin in the order of the effective ones of a world, and no later than that needs. None misses a change that
 * the run without a fault has seen: each begins before the next one of its key is due there.
 */
export function orderedAs(effective: readonly Attempt[], known: readonly Attempt[]): Schedule {
  const places = known.map(({ label, at: due }, index) => {
    const later = known.slice(index + 1).find((one) => one.label === label && one.at > due);
    const place = effective.findIndex((one) => one.label === label && one.at >= due);
    const last = (later?.at ?? Number.POSITIVE_INFINITY) - 1;
    return { label, due, last, place, turn: effective[place]?.at ?? due, at: due };
  });
  const inOrder = places.toSorted((one, other) => one.turn - other.turn || one.place - other.place);
  let bound = Number.NEGATIVE_INFINITY;
  for (const one of inOrder) {
    one.at = Math.max(one.due, bound);
    bound = one.at + 1;
  }
  bound = Number.POSITIVE_INFINITY;
  for (const one of inOrder.toReversed()) {
    one.at = Math.max(one.due, Math.min(one.at, one.last, bound));
    bound = one.at - 1;
  }
  return { begins: byLabel(inOrder), rest: 0, from: 0 };
}

function byLabel(begins: readonly Pick<Attempt, "label" | "at">[]): Schedule["begins"] {
  const instants = new Map<string, number[]>();
  for (const { label, at } of begins) instants.set(label, [...(instants.get(label) ?? []), at]);
  return instants;
}
