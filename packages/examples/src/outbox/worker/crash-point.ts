/** Where a worker may die: before or after each step of a message's way. */
export const CRASH_POINTS = [
  "before-commit",
  "after-commit",
  "before-publish",
  "after-publish",
  "before-mark",
  "after-mark",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Dies at a point when it gets there for the `count`-th time, from 1. */
export interface Crash {
  readonly point: CrashPoint;
  readonly count: number;
}

/** Tells that a point is reached. */
export type Reach = (point: CrashPoint) => void;

/** @returns a function that kills this process without cleanup when the crash is due */
export function crasher(crash: Crash | undefined): Reach {
  let reached = 0;
  return (point) => {
    if (point !== crash?.point || ++reached < crash.count) return;
    process.kill(process.pid, "SIGKILL");
    // The signal arrives at once, but not before the next instruction: nothing may follow.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
}
