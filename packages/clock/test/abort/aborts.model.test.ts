import { onAbort } from "@holdfast/clock";
import { fromFakeTimers } from "@holdfast/clock/fake-timers";
import { FakeClock, type TestClock } from "@holdfast/clock/testing";
import { createClock } from "@sinonjs/fake-timers";
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const KINDS = ["arm", "sleep", "timeout", "listen", "unlisten", "abort", "dispose"] as const;

/** `which` counts signals, or the subscriptions of `listen`, and starts over after the last one. */
interface Operation {
  readonly kind: (typeof KINDS)[number];
  readonly delay: number;
  readonly which: number;
  /** Runs when the timer fires, the sleep ends or the signal aborts. */
  readonly reaction: readonly Operation[];
}

interface RealSignal {
  readonly signal: AbortSignal;
  /** Aborts the signal, or, without a reason, disposes it. */
  end(reason?: string): unknown;
}

class Real {
  readonly #clock: TestClock;
  readonly #start: number;
  readonly #signals: RealSignal[] = [];

  constructor(clock: TestClock) {
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  addSignal(): void {
    const controller = new AbortController();
    const end = (reason?: string) => reason !== undefined && controller.abort(reason);
    this.#signals.push({ signal: controller.signal, end });
  }

  arm(delay: number, fire: () => void): void {
    this.#clock.afterFunc(delay, fire);
  }

  sleep(delay: number, signal: number): Promise<void> {
    return this.#clock.sleep(delay, { signal: this.#signalAt(signal).signal });
  }

  listen(signal: number, callback: (reason: unknown) => void): () => void {
    const subscription = onAbort(this.#signalAt(signal).signal, callback);
    return () => subscription[Symbol.dispose]();
  }

  abort(signal: number, reason: string): void {
    this.#signalAt(signal).end(reason);
  }

  timeout(delay: number): void {
    const signal = this.#clock.timeout(delay);
    const end = (reason?: string) => reason === undefined && signal[Symbol.dispose]();
    this.#signals.push({ signal, end });
  }

  dispose(signal: number): void {
    this.#signalAt(signal).end();
  }

  step(duration: number): Promise<void> {
    return this.#clock.step(duration);
  }

  /** Time that has passed, armed timers, and the listeners of each signal. */
  state(): unknown {
    const listeners = this.#signals.map(({ signal }) => abortListeners(signal));
    return [this.#clock.monotonic() - this.#start, this.#clock.waiters(), listeners];
  }

  #signalAt(index: number): RealSignal {
    return this.#signals[index % this.#signals.length] as RealSignal;
  }
}

interface ModelTimer {
  readonly deadline: number;
  readonly fire: () => void;
}

interface ModelSignal {
  aborted: { readonly reason: unknown } | undefined;
  /** In the order they were added. */
  waiting: ((reason: unknown) => void)[];
  /** For the signal of a timeout. */
  readonly timer: ModelTimer | undefined;
}

class Model {
  #now = 0;
  /** In the order they were armed. */
  #timers: ModelTimer[] = [];
  readonly #signals: ModelSignal[] = [];

  addSignal(): void {
    this.#signals.push({ aborted: undefined, waiting: [], timer: undefined });
  }

  arm(delay: number, fire: () => void): ModelTimer {
    const timer = { deadline: this.#now + Math.max(0, delay), fire };
    this.#timers.push(timer);
    return timer;
  }

  sleep(delay: number, signal: number): Promise<void> {
    const { aborted } = this.#signalAt(signal);
    if (aborted !== undefined) return Promise.reject(aborted.reason);
    return new Promise((resolve, reject) => {
      const timer = this.arm(delay, () => {
        forget();
        resolve();
      });
      const forget = this.listen(signal, (reason) => {
        this.#remove(timer);
        reject(reason);
      });
    });
  }

  listen(index: number, callback: (reason: unknown) => void): () => void {
    const signal = this.#signalAt(index);
    const entry = (reason: unknown) => callback(reason);
    if (signal.aborted === undefined) signal.waiting.push(entry);
    else callback(signal.aborted.reason);
    return () => {
      signal.waiting = signal.waiting.filter((other) => other !== entry);
    };
  }

  abort(index: number, reason: string): void {
    const signal = this.#signalAt(index);
    if (signal.timer === undefined) this.#end(signal, reason);
  }

  timeout(delay: number): void {
    const timer = this.arm(delay, () => this.#end(signal, "TimeoutError"));
    const signal: ModelSignal = { aborted: undefined, waiting: [], timer };
    this.#signals.push(signal);
  }

  dispose(index: number): void {
    this.#remove(this.#signalAt(index).timer);
  }

  async step(duration: number): Promise<void> {
    const end = this.#now + duration;
    await turn();
    while (this.#fireNext(end)) await turn();
    this.#now = end;
  }

  state(): unknown {
    const listeners = this.#signals.map(({ aborted, waiting }) =>
      aborted === undefined ? Math.min(1, waiting.length) : 0,
    );
    return [this.#now, this.#timers.length, listeners];
  }

  #fireNext(end: number): boolean {
    const deadline = Math.min(...this.#timers.map((timer) => timer.deadline));
    const next = this.#timers.find((timer) => timer.deadline === deadline);
    if (next === undefined || deadline > end) return false;
    this.#remove(next);
    this.#now = deadline;
    next.fire();
    return true;
  }

  #end(signal: ModelSignal, reason: string): void {
    if (signal.aborted !== undefined) return;
    signal.aborted = { reason };
    for (let first = signal.waiting.shift(); first; first = signal.waiting.shift()) first(reason);
  }

  #remove(timer: ModelTimer | undefined): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }

  #signalAt(index: number): ModelSignal {
    return this.#signals[index % this.#signals.length] as ModelSignal;
  }
}

type World = Real | Model;

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Plays operations and reactions in a world, and logs everything that happens. */
class Player {
  readonly log: string[] = [];
  readonly world: World;
  readonly #subscriptions: (() => void)[] = [];
  #operations = 0;

  constructor(world: World) {
    this.world = world;
    world.addSignal();
    world.addSignal();
  }

  async play(operation: Operation | number): Promise<void> {
    if (typeof operation === "number") await this.world.step(operation);
    else this.#do(operation);
    await turn();
    this.log.push(JSON.stringify(this.world.state()));
  }

  #do({ kind, delay, which, reaction }: Operation): void {
    const { world } = this;
    const id = `${kind} ${this.#operations++}`;
    const onEnd = () => this.#react(id, reaction);
    const onAbort = (reason: unknown) => this.#react(`${id}: ${nameOf(reason)}`, reaction);
    if (kind === "arm") world.arm(delay, onEnd);
    else if (kind === "sleep") world.sleep(delay, which).then(onEnd, onAbort);
    else if (kind === "listen") this.#subscriptions.push(world.listen(which, onAbort));
    else if (kind === "unlisten") this.#subscriptions[which % this.#subscriptions.length]?.();
    else if (kind === "abort") world.abort(which, id);
    else if (kind === "timeout") world.timeout(delay);
    else world.dispose(which);
  }

  #react(event: string, reaction: readonly Operation[]): void {
    this.log.push(`${event} ${JSON.stringify(this.world.state())}`);
    for (const operation of reaction) this.#do(operation);
  }
}

function nameOf(reason: unknown): string {
  return reason instanceof DOMException ? reason.name : String(reason);
}

// Few different values, so that timers and aborts share an instant.
const { operation } = fc.letrec<{ operation: Operation }>((tie) => ({
  operation: fc.record({
    kind: fc.constantFrom(...KINDS),
    delay: fc.constantFrom(-1, 0, 1, 2, 3, 5),
    which: fc.nat({ max: 9 }),
    reaction: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.constant([]),
      fc.array(tie("operation"), { maxLength: 3 }),
    ),
  }),
}));

/** An operation, or the milliseconds of a step. */
const step = fc.oneof(
  { weight: 2, arbitrary: operation },
  { weight: 1, arbitrary: fc.nat({ max: 4 }) },
);

it.each([
  { clock: "FakeClock", make: () => new FakeClock() },
  { clock: "fromFakeTimers()", make: () => fromFakeTimers(createClock()) },
])("sleeps, timeouts and aborts on $clock behave like those of a plain list", async ({ make }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25, size: "max" }), async (steps) => {
      const [real, model] = [new Player(new Real(make())), new Player(new Model())];
      for (const step of steps) {
        await real.play(step);
        await model.play(step);
        expect(real.log).toEqual(model.log);
      }
    }),
    { numRuns: inject("isThorough") ? 2_000 : 30 },
  );
});
