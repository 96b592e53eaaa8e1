import { onAbort, type PassiveClock } from "@holdfast/clock";
import type { Snapshot } from "../../../src/supervisor/web/snapshot.ts";

type Event = { id: undefined; event: string | undefined; data: string };

/** A server of events without sockets, for one url: it accepts or not, tells, breaks and falls silent. */
class ScriptedStream {
  readonly #clock: PassiveClock;
  accepts = true;
  /** When somebody asked. */
  readonly attempts: number[] = [];
  #tell: ((event: Event) => void) | undefined;
  #end: ((error?: Error) => void) | undefined;

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#end !== undefined;
  }

  show(snapshot: Snapshot): void {
    this.#tell?.({ id: undefined, event: undefined, data: JSON.stringify(snapshot) });
  }

  /** Closes the connection, or breaks it with an error. */
  end(error?: Error): void {
    this.#end?.(error);
  }

  open(signal: AbortSignal): AsyncIterable<Event> {
    this.attempts.push(this.#clock.now());
    if (!this.accepts) throw new Error("refused");
    const stream = new ReadableStream<Event>({
      start: (controller) => {
        const leave = onAbort(signal, (reason) => this.#end?.(reason as Error));
        this.#tell = (event) => controller.enqueue(event);
        this.#end = (error) => {
          this.#tell = undefined;
          this.#end = undefined;
          leave[Symbol.dispose]();
          if (error === undefined) controller.close();
          else controller.error(error);
        };
      },
    });
    return stream as unknown as AsyncIterable<Event>;
  }
}

/** Servers of events without sockets, by their urls. */
export class ScriptedStreams {
  readonly #clock: PassiveClock;
  readonly #streams = new Map<string, ScriptedStream>();

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  at(url: string): ScriptedStream {
    const known = this.#streams.get(url) ?? new ScriptedStream(this.#clock);
    this.#streams.set(url, known);
    return known;
  }

  readonly open = async (url: string, signal: AbortSignal): Promise<AsyncIterable<Event>> =>
    this.at(url).open(signal);
}
