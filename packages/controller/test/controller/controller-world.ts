import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerMetrics,
  fromCallback,
  fromIterable,
  isTerminalError,
  type QueueMetrics,
  RetryAfterError,
  resync,
  silentLogger,
  TerminalError,
} from "@holdfast/controller";
import { isTimeoutError } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";

// One whole controller and a world around it, drawn from a seed. What must hold, whatever happens:
// - no key is worked on by two at once
// - no key is lost: after its last event, failure or wish to run again a reconcile begins, or it is given
//   up, or the report at the end names it
// - keys that were queued and never failed leave in the order in which they came
// - after the drain nothing waits, nothing runs but what the report names, and the metrics sum to zero

interface Behaviour {
  readonly duration: number;
  readonly end: "return" | "requeue" | "throw" | "later" | "terminal";
  readonly isDeaf: boolean;
}

/** What a seed came to. The same seed comes to the same trace. */
export interface WorldReport {
  readonly faults: string[];
  readonly trace: string[];
  readonly reconciles: number;
}

/** Adds up what it is told. */
class Sums implements QueueMetrics, ControllerMetrics {
  waiting = 0;
  taken = 0;
  busy = 0;
  reconciles = 0;
  readonly faults: string[] = [];

  ended(): void {}
  depth(change: number): void {
    this.waiting += change;
  }
  started(duration: number): void {
    this.taken++;
    if (duration < 0) this.faults.push("waited less than nothing");
  }
  finished(duration: number): void {
    this.taken--;
    if (duration < 0) this.faults.push("worked less than nothing");
  }
  activeWorkers(change: number): void {
    this.busy += change;
  }
  reconciled(): void {
    this.reconciles++;
  }
  added(): void {}
  retried(): void {}
  watch(): void {}
  maxWorkers(): void {}
}

export class ControllerWorld {
  readonly #random: () => number;
  readonly #clock = new FakeClock();
  readonly #start = this.#clock.monotonic();
  readonly #stop = new AbortController();
  readonly #sums = new Sums();
  readonly #running = new Set<string>();
  /** The version of each key that is to be looked at. */
  readonly #unseen = new Map<string, number>();
  /** Of the events that make a key queue when it was nowhere: the order to leave in. */
  readonly #line: string[] = [];
  readonly #isPlain: boolean;
  readonly #keys: number;
  readonly #report: WorldReport & { reconciles: number };
  readonly #controller: Controller;
  #version = 0;
  #emit: (key: string) => void = () => {};
  #hasStopped = false;
  #isOver = false;
  #interrupted = 0;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#random = random;
    // Every third world has one worker and nothing that fails: there the order can be foretold.
    this.#isPlain = random() < 0.33;
    this.#keys = 1 + Math.floor(random() * 12);
    this.#report = { faults: this.#sums.faults, trace: [], reconciles: 0 };
    this.#controller = this.#make();
  }

  async run(): Promise<WorldReport> {
    const clock = this.#clock;
    const running = this.#controller.run(this.#stop.signal);
    for (let i = Math.floor(this.#random() * 25); i > 0; i--) {
      await clock.step(this.#random() ** 3 * 200, { turns: 0 });
      this.#act();
    }
    if (this.#random() < 0.3) await clock.step(this.#random() * 60_000, { turns: 0 });
    this.#stop.abort(new Error("the end"));
    this.#hasStopped = true;
    this.#event();
    void running.then(() => {
      this.#isOver = true;
      this.#compareRunning();
    });
    await clock.step(10_000, { turns: 0 });
    if (!this.#isOver) this.#fault("the drain takes longer than grace and abortGrace");
    this.#check();
    return { ...this.#report, reconciles: this.#sums.reconciles };
  }

  #make(): Controller {
    const random = this.#random;
    const pick = <Value>(...values: Value[]): Value =>
      values[Math.floor(random() * values.length)] as Value;
    const limits = this.#isPlain
      ? {}
      : {
          workers: pick(1, 2, 4),
          timeout: pick(Number.POSITIVE_INFINITY, 20, 200),
          retries: pick(Number.POSITIVE_INFINITY, 0, 2),
        };
    return new Controller({
      name: "world",
      logger: silentLogger,
      clock: this.#clock,
      random,
      sources: this.#isPlain ? [] : this.#sources(),
      ...limits,
      abortGrace: pick(0, 30),
      grace: pick(0, 100, 5_000),
      onGiveUp: ({ key }) => this.#unseen.delete(key),
      onError: () => {
        if (random() < 0.1) throw new Error("hook");
      },
      metrics: this.#sums,
      queueMetrics: this.#sums,
      reconcile: ({ key, signal }) => this.#reconcile(key, signal),
    });
  }

  #sources() {
    const random = this.#random;
    const clock = this.#clock;
    const world = this;
    return [
      fromCallback("callback", (enqueue) => {
        if (random() < 0.3) throw new Error("no callback");
        this.#emit = enqueue;
        return () => {
          this.#emit = () => {};
        };
      }),
      fromIterable("iterable", async function* (signal) {
        for (;;) {
          await clock.sleep(random() * 100, { signal });
          if (random() < 0.2) throw new Error("the stream broke");
          const key = world.#key();
          world.#note(key);
          yield key;
        }
      }),
      resync({
        interval: 500,
        list: () => {
          if (random() < 0.2) throw new Error("no list");
          return ["k0", "k1"];
        },
      }),
    ];
  }

  #key(): string {
    return `k${Math.floor(this.#random() * this.#keys)}`;
  }

  #note(key: string): void {
    if (!this.#stop.signal.aborted) this.#unseen.set(key, ++this.#version);
  }

  #event(): void {
    const key = this.#key();
    // A key that runs joins the line at once as well.
    if (!this.#hasStopped && this.#isPlain && !this.#unseen.has(key)) this.#line.push(key);
    this.#note(key);
    if (this.#random() < 0.5) this.#controller.add(key);
    else {
      this.#emit(key);
      this.#controller.add(key, { reason: "both" });
    }
  }

  #act(): void {
    const draw = this.#random();
    if (draw < 0.4) this.#event();
    else if (draw < 0.7) for (let i = this.#random() * 20; i > 0; i--) this.#event();
    else if (draw < 0.8) this.#controller.pause();
    else if (draw < 0.95) this.#controller.resume();
    else JSON.stringify(this.#controller.status());
  }

  async #reconcile(
    key: string,
    signal: AbortSignal,
  ): Promise<{ requeueAfter: number } | undefined> {
    this.#trace("begins", key);
    if (this.#running.has(key)) this.#fault(`two of ${key} at once`);
    if (this.#isPlain && this.#line.shift() !== key) this.#fault(`${key} is not first in line`);
    this.#running.add(key);
    this.#unseen.delete(key);
    const { duration, end, isDeaf } = this.#behaviour();
    try {
      await this.#clock.sleep(duration, isDeaf ? {} : { signal });
      const result = this.#end(end);
      if (result !== undefined) this.#unseen.set(key, ++this.#version);
      return result;
    } catch (error) {
      if (!isTerminalError(error)) {
        this.#unseen.set(key, ++this.#version);
        const isStopped = signal.aborted && !isTimeoutError(signal.reason);
        if (isStopped && !this.#isOver) this.#interrupted++;
      }
      throw error;
    } finally {
      this.#trace(end, key);
      this.#running.delete(key);
    }
  }

  #behaviour(): Behaviour {
    const random = this.#random;
    const duration = random() < 0.3 ? 0 : random() ** 4 * 300;
    if (this.#isPlain) return { duration, end: "return", isDeaf: false };
    const ends = ["return", "return", "requeue", "throw", "later", "terminal"] as const;
    const end = ends[Math.floor(random() * ends.length)] as Behaviour["end"];
    if (random() < 0.02) return { duration: Number.POSITIVE_INFINITY, end, isDeaf: random() < 0.5 };
    return { duration, end, isDeaf: random() < 0.2 };
  }

  #end(end: Behaviour["end"]): { requeueAfter: number } | undefined {
    const delay = this.#random() * 100 - 10;
    switch (end) {
      case "return":
        return undefined;
      case "requeue":
        return { requeueAfter: delay };
      case "throw":
        throw new Error("failed");
      case "later":
        throw new RetryAfterError(delay);
      case "terminal":
        throw new TerminalError("failed for good");
    }
  }

  /** At the moment the run ends: what does not stop may do so later. */
  #compareRunning(): void {
    const reported = [...(this.#controller.status().drain?.running ?? [])].sort().join();
    const actual = [...this.#running].sort().join();
    if (actual !== reported) this.#fault(`runs: ${actual}, reported: ${reported}`);
    // A sleep of a reconcile that does not stop is a waiter of the world, not of the controller.
    if (this.#clock.waiters() !== this.#running.size) this.#fault("timers are left at the end");
  }

  #check(): void {
    const { drain, state, workers, queue } = this.#controller.status();
    if (state !== "stopped" || drain === undefined) {
      this.#fault(`it is ${state}`);
      return;
    }
    const left = new Set([
      ...drain.queued,
      ...drain.running,
      ...drain.delayed.map(({ key }) => key),
    ]);
    for (const key of this.#unseen.keys()) if (!left.has(key)) this.#fault(`${key} is lost`);
    const unfinished = drain.running.length + drain.queued.length + this.#interrupted;
    if (drain.finished && unfinished > 0) this.#fault("finished, and something is left");
    // A key that was taken and did not begin is reported with the rest 0 as well.
    const mayBeGivenBack = drain.delayed.some(({ after }) => after === 0);
    if (!drain.finished && unfinished === 0 && !mayBeGivenBack) this.#fault("nothing is left");
    if (workers.busy !== 0 || this.#sums.busy !== 0) this.#fault(`${this.#sums.busy} are busy`);
    // What is running and will have to run again waits already, for the metrics.
    if (this.#sums.waiting !== drain.queued.length) this.#fault(`depth ${this.#sums.waiting}`);
    if (this.#sums.taken !== queue.inFlight) this.#fault(`${this.#sums.taken} in flight`);
    // A deaf sleep without an end is a waiter of the world, not of the controller.
    if (this.#clock.waiters() !== this.#running.size) this.#fault("timers are left");
  }

  #fault(fault: string): void {
    this.#trace("FAULT", fault);
    this.#report.faults.push(`${this.#clock.monotonic() - this.#start}: ${fault}`);
  }

  #trace(...facts: string[]): void {
    this.#report.trace.push(`${this.#clock.monotonic() - this.#start} ${facts.join(" ")}`);
  }
}
