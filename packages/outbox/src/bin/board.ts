import type { Clock } from "@holdfast/clock";
import type { SnapshotSource } from "@holdfast/kit/node";
import { loop } from "@holdfast/wait/loop";
import type { Message } from "../message/message.ts";
import { Outbox } from "../outbox.ts";
import type { Connection } from "./connect.ts";
import { History, type TopicView } from "./history.ts";
import { type Status, statusOf } from "./status.ts";

/** How often it tries to listen, in milliseconds. */
const LISTEN_PERIOD = 30_000;
/** How many dead letters it shows. */
const LETTERS = 100;
/** In place of a text that needs the token. */
const HIDDEN = "(open the address that the command has printed)";

export type Letter = Pick<
  Message,
  "id" | "topic" | "key" | "updatedAt" | "failedAttempts" | "maxAttempts" | "lastError"
>;

/** A replay that was asked for. */
export interface Replay {
  /** Undefined for all topics. */
  readonly topic: string | undefined;
  /** How many were replayed until now. */
  readonly count: number;
  readonly isOver: boolean;
  /** Why it ended early; undefined if it did not. */
  readonly problem: string | undefined;
}

/** What one look finds. */
interface Seen {
  readonly status: Status;
  readonly letters: readonly Letter[];
  readonly topics: readonly TopicView[];
  /** The topics that are paused, with messages or without. */
  readonly paused: readonly string[];
}

/**
 * An outbox as its page shows it. Payloads and headers are left out, and what a receiver said is for the user of the command:
 * others on this machine can connect to the page.
 */
export interface Snapshot extends Seen {
  /** The clock of this process, in milliseconds since the epoch. */
  readonly at: number;
  readonly database: string;
  /** Why the database cannot be read now; undefined if it can. */
  readonly problem: string | undefined;
  /** Whether no notification reaches this process, or a relay that connects as it does. */
  readonly polls: boolean;
  /** The last replay from this page; undefined if there was none. */
  readonly replay: Replay | undefined;
  /** Whether whoever looks may replay. */
  readonly canReplay: boolean;
}

/** What was last read of an outbox, and what is done to it. */
export class Board implements SnapshotSource<Snapshot> {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  readonly #history = new History();
  #seen: Seen | undefined;
  #problem: string | undefined;
  #polls: boolean;
  #replay: Replay | undefined;
  #replaying: Promise<void> = Promise.resolve();

  private constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
    this.#polls = connection.store.listen === undefined;
  }

  /** Rejects if the outbox cannot be read. */
  static async open(connection: Connection, clock: Clock): Promise<Board> {
    const board = new Board(connection, clock);
    await board.refresh();
    return board;
  }

  snapshot(): Snapshot {
    const at = this.#clock.now();
    const { name: database } = this.#connection;
    const seen = this.#seen as Seen; // open() has looked
    const [problem, polls, replay] = [this.#problem, this.#polls, this.#replay];
    return { at, database, ...seen, problem, polls, replay, canReplay: true };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async refresh(): Promise<void> {
    const { store } = this.#connection;
    const status = await statusOf(store, this.#clock.now());
    const { at } = status;
    this.#history.add((await store.activity?.(this.#history.since(at))) ?? [], at);
    const found = await store.deadLetters({ topic: undefined, after: undefined, limit: LETTERS });
    const letters = found.map(
      ({ id, topic, key, updatedAt, failedAttempts, maxAttempts, lastError }) => {
        return { id, topic, key, updatedAt, failedAttempts, maxAttempts, lastError };
      },
    );
    const paused = (await store.pausedTopics?.()) ?? [];
    this.#seen = { status, letters, topics: this.#history.views(at), paused };
    this.fail(undefined);
  }

  /** Finds out whether notifications arrive, and follows the connection. */
  async listen(signal: AbortSignal): Promise<void> {
    const onError = (): void => {
      this.#polls = true;
    };
    const listen = async (): Promise<void> => {
      await this.#connection.store.listen?.(() => {
        this.#polls = false;
      }, signal);
    };
    await loop({ run: listen, onError, delay: () => LISTEN_PERIOD, clock: this.#clock, signal });
  }

  /**
   * Begins to replay the dead letters of a topic, or all. An abort ends it between two portions.
   *
   * @param textOf - makes the text of an error that ends it
   * @returns false, and begins nothing, while another one is under way
   */
  replay(
    topic: string | undefined,
    textOf: (error: unknown) => string,
    signal: AbortSignal,
  ): boolean {
    if (this.#replay?.isOver === false) return false;
    const { store } = this.#connection;
    // Relays look by themselves, too.
    const onCommitted = (): void => void store.notify?.().catch(() => {});
    const { deadLetters } = new Outbox({ store, onCommitted, clock: this.#clock });
    const replay = { topic, count: 0, isOver: false, problem: undefined };
    const tell = (change: Partial<Replay>): void => {
      this.#replay = { ...(this.#replay ?? replay), ...change };
      this.#change();
    };
    tell(replay);
    const onProgress = (count: number): void => tell({ count });
    this.#replaying = deadLetters
      .replay(topic === undefined ? "all" : { topic }, { onProgress, signal })
      .then(
        () => tell({ isOver: true }),
        (error) => tell({ isOver: true, problem: textOf(error) }),
      );
    return true;
  }

  /** Waits until no replay is under way. */
  async replayed(): Promise<void> {
    await this.#replaying;
  }

  /** Shows why the database cannot be read, beside what was last read of it. */
  fail(problem: string | undefined): void {
    this.#problem = problem;
    this.#change();
  }

  #change(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What others on this machine may see: counts, and which messages are dead, but no text of a receiver or a database. */
export function forOthers({ letters, problem, replay, ...rest }: Snapshot): Snapshot {
  return {
    ...rest,
    canReplay: false,
    replay: replay && { ...replay, problem: replay.problem && HIDDEN },
    letters: letters.map(({ lastError, ...letter }) => ({
      ...letter,
      lastError: lastError && HIDDEN,
    })),
    problem: problem && HIDDEN,
  };
}
