/** Where a key of a queue is. */
export type ItemState =
  /** Nowhere: the queue does not know the key. */
  | "idle"
  /** It waits for its time. */
  | "delayed"
  /** It waits to be handed out. */
  | "queued"
  /** It is handed out. */
  | "processing"
  /** It is handed out, and waits for its time to be so again. */
  | "processing+delayed"
  /** It is handed out, and will be queued again when that is done. */
  | "processing+dirty";

/** After a key is to run now: it was added without a delay, or its time has come. */
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

/** After a key is to run later: one that runs now anyway does not run twice. */
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

/** After what is handed out is done. */
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

/** After a key no longer waits for its time. */
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

/** Whether a key waits for its time. */
export function isDelayed(state: ItemState): boolean {
  return state === "delayed" || state === "processing+delayed";
}
