/**
 * A source of chance: a function that returns a number in [0, 1), as `Math.random` does.
 *
 * Everything here that draws takes one, so that a test or a simulation can repeat a run.
 */
export type Random = () => number;

/** The source that is used where none is given. Looked up at each draw, so a stub of it works. */
export const defaultRandom: Random = () => Math.random();
