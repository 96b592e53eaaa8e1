/** State of a key in a queue. */
export type ItemState =
  /** The queue does not know the key. */
  | "idle"
  /** It waits for its time to come. */
  | "delayed"
  /** It waits to be taken. */
  | "queued"
  /** It is in flight. */
  | "processing"
  /** It is in flight, and delayed again. */
  | "processing+delayed"
  /** It is in flight, and queued again when done. */
  | "processing+dirty";

/** The state after an `add` without a delay, or when the time of the key has come. */
export function whenAdded(state: ItemState): ItemState {
  switch (state) {
    case "idle":
    case "delayed":
    case "queued":
      return "queued";
    case "processing":
    case "processing+delayed":
    case "processing+dirty":
      return "processing+dirty";
  }
}

/** The state after an `add` with a delay. A key that is queued anyway does not run twice. */
export function whenPostponed(state: ItemState): ItemState {
  switch (state) {
    case "idle":
    case "delayed":
      return "delayed";
    case "processing":
    case "processing+delayed":
      return "processing+delayed";
    case "queued":
    case "processing+dirty":
      return state;
  }
}

/** The state after the work item is done. */
export function whenDone(state: ItemState): ItemState {
  switch (state) {
    case "processing":
      return "idle";
    case "processing+delayed":
      return "delayed";
    case "processing+dirty":
      return "queued";
    case "idle":
    case "delayed":
    case "queued":
      return state;
  }
}

/** The state after the delay is cancelled. */
export function whenCancelled(state: ItemState): ItemState {
  switch (state) {
    case "delayed":
      return "idle";
    case "processing+delayed":
      return "processing";
    case "idle":
    case "queued":
    case "processing":
    case "processing+dirty":
      return state;
  }
}

/** Whether the key is delayed. */
export function isDelayed(state: ItemState): boolean {
  return state === "delayed" || state === "processing+delayed";
}

/** Whether the key waits to be taken, at once or when its work is done. */
export function isWaiting(state: ItemState | undefined): boolean {
  return state === "queued" || state === "processing+dirty";
}
