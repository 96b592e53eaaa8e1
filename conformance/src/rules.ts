export type RuleId =
  | "rejected-at-the-door"
  | "no-overflow"
  | "beyond-99-days"
  | "no-leak-after-crash"
  | "own-instant"
  | "time-goes-forward"
  | "late-is-now"
  | "nothing-stale"
  | "ticker-stops"
  | "sleep-waits"
  | "fired-is-fired"
  | "limits-of-the-loop"
  | "sliding-slides"
  | "deprecated-polls"
  | "counts-when-over"
  | "bounded-debt"
  | "every-limiter-counts"
  | "delayed-runs-once"
  | "first-come-first-due"
  | "in-order-of-adds"
  | "done-is-of-a-hand-out"
  | "drained-is-done"
  | "ends-with-the-last-key";

/** One way in which Holdfast differs from Go on purpose. */
export interface Rule {
  readonly go: string;
  readonly here: string;
  readonly reason: string;
}

/**
 * Every difference there is. What is not listed here is equal; what is listed is checked to differ
 * in just this way, and a rule that no longer makes a difference fails the run.
 */
export const rules: Readonly<Record<RuleId, Rule>> = {
  "rejected-at-the-door": {
    go: "takes an argument that is negative, NaN, infinite or otherwise out of range for none, for 0, or computes with it; a ticker with such a period fires once or never",
    here: "a RangeError that names the argument; for values that Go ignores, the comparison leaves the option out",
    reason: "it is a mistake in the caller's code, and a delay below 0 turns a loop hot",
  },
  "no-overflow": {
    go: "wraps a delay beyond 2^63 - 1 ns around to a negative one; which one depends on the processor",
    here: "a delay stops at 2^63 ns, and its growth ends there",
    reason: "a negative delay turns a loop hot after it has run well for hours",
  },
  "beyond-99-days": {
    go: "counts every duration in whole nanoseconds",
    here: "above 2^33 ms, which is 99 days, a value is within one part in 2^51 of Go's",
    reason: "a JavaScript number has 53 significant bits",
  },
  "no-leak-after-crash": {
    go: "leaves the timer of a non-sliding loop armed when a panic of f ends the loop",
    here: "no timer is left",
    reason: "every wait that ends cleans up after itself",
  },
  "own-instant": {
    go: "fires due timers in the order of their creation, all at the end of the step",
    here: "timers fire in the order of their deadlines, each at its own instant, as on Go's real clock",
    reason: "a test on a fake clock must show the behaviour of a real one",
  },
  "time-goes-forward": {
    go: "moves the fake clock backwards on request",
    here: "a RangeError; only the wall clock can be set back, with setSystemTime",
    reason: "monotonic time never goes back, and timers live on monotonic time",
  },
  "late-is-now": {
    go: "gives a timer with a negative delay a deadline in the past",
    here: "the deadline is now",
    reason: "a deadline is an instant at which the timer can fire",
  },
  "nothing-stale": {
    go: "keeps an unreceived firing through a reset, and blocks the clock forever when the timer fires again",
    here: "reset forgets it, as Go's real timers do since Go 1.23",
    reason: "a wait after a reset is for the next firing",
  },
  "ticker-stops": {
    go: "the ticker of the fake clock goes on after Stop",
    here: "a stopped ticker is gone",
    reason: "otherwise no test can show that code stops its tickers",
  },
  "sleep-waits": {
    go: "Sleep on the fake clock moves the time itself and returns",
    here: "sleep waits, as on any clock; the replay starts it and then steps the clock by as much",
    reason: "code under test must not move the time of other code",
  },
  "limits-of-the-loop": {
    go: "a backoff counts retries and time itself, and returns Stop",
    here: "delays have no end; the caller counts, and so does the replay",
    reason: "one limit in one place, which can report the last error",
  },
  "fired-is-fired": {
    go: "Stop and Reset of a fired real timer return true until the firing is received",
    here: "stop and reset return false once the timer has fired; stop leaves the firing to be seen",
    reason: "the answer must not depend on earlier reads",
  },
  "sliding-slides": {
    go: "the loop behind the polls ignores sliding where the interval is fixed, because its timer is a ticker",
    here: "the interval counts from the end of the condition wherever sliding is asked for",
    reason: "an option that is accepted is honoured",
  },
  "deprecated-polls": {
    go: "the deprecated polls ask once more when their time is up, and tell an abort as a timeout",
    here: "pollUntil, which replaces them, ends at once, with a TimeoutError or with the reason of the abort",
    reason: "its counterpart in Go does so too, and the error tells both ends apart",
  },
  "counts-when-over": {
    go: "counts a failure, and takes a token, each time a rate limiter is asked",
    here: "a key that still backs off gets the rest of its delay; nothing is counted or taken",
    reason: "events that run a failing key early would push it to the longest delay within seconds",
  },
  "bounded-debt": {
    go: "takes a token from a bucket even if the delay is then cut off",
    here: "a key that would wait longer than the cap waits for the cap and takes no token",
    reason: "a burst of failures would delay all keys forever",
  },
  "every-limiter-counts": {
    go: "a token bucket counts no failures: NumRequeues is always 0",
    here: "it counts the failures of each key, as every limiter does",
    reason: "a controller takes attempts and the limit of retries from the limiter",
  },
  "delayed-runs-once": {
    go: "a delayed key that is added without a delay, or is queued already, runs now and once more when its time comes",
    here: "it runs once, now",
    reason: "a queue that de-duplicates has one entry per key",
  },
  "first-come-first-due": {
    go: "keys that are due at one instant leave in the order of a heap's swaps",
    here: "they leave in the order in which they got that time",
    reason: "first come, first served",
  },
  "in-order-of-adds": {
    go: "a key that is added again while in flight goes to the back when it is done",
    here: "it keeps the place of that add, at every priority",
    reason: "slow work would put its key behind keys that were added later",
  },
  "done-is-of-a-hand-out": {
    go: "Done of a key that is not in flight queues it a second time if it is queued",
    here: "done belongs to a work item, and a second call does nothing",
    reason: "a key could be processed twice at once",
  },
  "drained-is-done": {
    go: "ShutDownWithDrain waits for the keys in flight at that moment; of several callers one returns; ShutDown ends it",
    here: "drain waits until everything queued and in flight is done, for every caller",
    reason: "a caller that waits for the end of the work must not continue earlier",
  },
  "ends-with-the-last-key": {
    go: "Get returns shutdown as soon as the queue is empty, though a key in flight was added again and comes back",
    here: "get waits for the keys in flight that were added again, and then reports the end of the queue",
    reason: "a loop that does not wait for its work would end and leave that key behind",
  },
};

export type RuleSet = ReadonlySet<RuleId>;
