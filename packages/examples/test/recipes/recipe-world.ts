import { EventEmitter } from "node:events";
import nodeFs from "node:fs";
import { FakeClock } from "@holdfast/clock/testing";
import type pg from "pg";
import { expect, onTestFinished } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { timelineOf } from "../../../../test/timeline.ts";

/** A fake clock, the options of a recipe on it, and a timeline of its log. */
export function recipeWorld() {
  const clock = new FakeClock();
  const stop = new AbortController();
  const timeline = timelineOf(clock);
  onTestFinished(() => {
    const left = { timers: clock.waiters(), listeners: abortListeners(stop.signal) };
    expect(left).toEqual({ timers: 0, listeners: 0 });
  });
  const options = { clock, signal: stop.signal, random: () => 0, log: timeline.note };
  return { clock, stop, options, ...timeline };
}

/** A `fetch` that gives its answers in turn. `"hang"` waits for the abort; an error rejects. */
export function answering(...answers: (Response | Error | "hang")[]): typeof globalThis.fetch {
  return async (_url, init) => {
    const answer = answers.shift() ?? new Error("one request too many");
    if (answer instanceof Error) throw answer;
    return answer === "hang" ? await never(init?.signal) : answer;
  };
}

function never(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** A connection to a database that the test ends and sends notifications over. */
export class FakeClient extends EventEmitter {
  readonly queries: string[] = [];

  /** The connection, with the type of a real one. */
  get client(): pg.Client {
    return this as unknown as pg.Client;
  }

  async query(text: string): Promise<void> {
    this.queries.push(text);
  }

  async end(): Promise<void> {
    this.emit("end");
  }
}

/** Real files whose operations hold a fake clock, and a watcher that the test notifies. */
export class FakeFs {
  readonly watcher = Object.assign(new EventEmitter(), {
    close: () => {
      this.isClosed = true;
    },
  });
  readonly promises: typeof nodeFs.promises;
  /** Whether the watcher is closed. */
  isClosed = false;

  constructor(clock: FakeClock) {
    this.promises = new Proxy(nodeFs.promises, {
      get:
        (fs, name) =>
        (...args: unknown[]) =>
          clock.external(Reflect.apply(Reflect.get(fs, name) as Operation, fs, args)),
    });
  }

  /** These files, with the type of `node:fs`. */
  get fs(): Pick<typeof nodeFs, "promises" | "watch"> {
    return this as unknown as typeof nodeFs;
  }

  watch(_path: string, _options: object, listener: (event: string, file: string) => void) {
    return this.watcher.on("change", listener);
  }
}

type Operation = (...args: unknown[]) => Promise<unknown>;
