/** `stalled`: the connection is open, but no data arrives. */
export type Connection = "connecting" | "live" | "stalled" | "disconnected";

/** How things are, and how sure that is. */
export interface Picture<Snapshot> {
  readonly snapshot: Snapshot | undefined;
  readonly connection: Connection;
  /** How old the snapshot is, in milliseconds. */
  readonly age: number;
  /** The server's time: milliseconds since the epoch. It does not advance without data. */
  readonly now: number;
}

/** A server tells something each second. */
const SILENCE = 3_000;

/** Listens to the server; the browser connects again by itself. Instants are those of events and frames. */
export class News<Snapshot extends { readonly at: number }> {
  #snapshot: Snapshot | undefined;
  #arrived = 0;
  #state: "connecting" | "open" | "broken" = "connecting";

  /**
   * @param tell - called with each snapshot, also while the page is hidden; undefined when the connection
   * breaks
   */
  constructor(url: string, tell: (snapshot: Snapshot | undefined) => void) {
    const source = new EventSource(url);
    source.onmessage = ({ data, timeStamp }: MessageEvent<string>) => {
      const snapshot = JSON.parse(data) as Snapshot;
      this.#snapshot = snapshot;
      this.#arrived = timeStamp;
      this.#state = "open";
      tell(snapshot);
    };
    source.onerror = () => {
      this.#state = "broken";
      tell(undefined);
    };
  }

  /** @param frame - the time stamp of a frame */
  at(frame: number): Picture<Snapshot> {
    // An event may come after the instant at which its frame began.
    const age = Math.max(frame - this.#arrived, 0);
    const connection = this.#connection(age);
    const now = (this.#snapshot?.at ?? 0) + (connection === "live" ? age : 0);
    return { snapshot: this.#snapshot, connection, age, now };
  }

  #connection(age: number): Connection {
    if (this.#state === "connecting") return "connecting";
    if (this.#state === "broken") return "disconnected";
    return age > SILENCE ? "stalled" : "live";
  }
}
