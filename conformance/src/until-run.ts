import { setImmediate } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { type BackoffManager, backoffUntil } from "@holdfast/wait";
import { createManager, type GoManager } from "./go-manager.ts";
import { type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { RecordingClock } from "./recording-clock.ts";
import type { Fields } from "./trace.ts";
import { Uniforms } from "./uniforms.ts";

/** Calls, and steps of the clock, after which a scenario is given up. The recorded ones have hundreds. */
const MOST = 10_000;

/** A scenario for `BackoffUntil`, as it is recorded. */
export interface UntilInput {
  readonly manager: GoManager;
  readonly sliding: boolean;
  /** How long each call of f takes; the last entry repeats. */
  readonly f: readonly GoInt[];
  /** The calls, counted from 0, that panic at their end. */
  readonly panics?: readonly number[];
  /** Whether a panic ends the loop. */
  readonly reallyCrash: boolean;
  /** By how much the clock is stepped while the loop waits; absent: to the next deadline. */
  readonly jump?: GoInt;
  readonly stop: {
    readonly when: "beforeStart" | "inF" | "inWait";
    readonly call: number;
    readonly after: GoInt;
    /** Whether the stop comes before or after the clock reaches a deadline of that instant. */
    readonly order?: "before" | "after";
  };
}

/** What f throws where Go's panics. */
class Panic extends Error {}

/**
 * One scenario on `backoffUntil`, driven as the recording was: f steps the clock itself, and so does
 * the driver while the loop waits. A synchronous step moves all the time at once, as in Go.
 */
export class UntilRun {
  readonly #input: UntilInput;
  readonly #uniforms: Uniforms;
  readonly #manager: BackoffManager;
  readonly #clock = new FakeClock();
  readonly #recording = new RecordingClock(this.#clock);
  readonly #stop = new AbortController();
  readonly #starts: bigint[] = [];
  readonly #ends: bigint[] = [];
  #panicsHandled = 0n;
  #end: { readonly returnedAt: bigint; readonly panicPropagated: boolean } | undefined = undefined;

  constructor(input: UntilInput, u: readonly number[]) {
    this.#input = input;
    this.#uniforms = new Uniforms(u);
    this.#manager = createManager(input.manager, this.#recording, this.#uniforms.next);
  }

  async replay(): Promise<Fields> {
    if (this.#input.stop.when === "beforeStart") this.#stop.abort();
    const loop = this.#start();
    await setImmediate();
    for (let round = 0; this.#end === undefined; round++) {
      if (round === MOST) throw new Error(`still going after ${MOST} steps`);
      this.#drive();
      await setImmediate();
    }
    await loop;
    return {
      ...this.#end,
      starts: this.#starts,
      ends: this.#ends,
      arms: this.#recording.armings,
      panicsHandled: this.#panicsHandled,
      waitersLeft: BigInt(this.#clock.waiters()),
      draws: BigInt(this.#uniforms.drawn),
    };
  }

  async #start(): Promise<void> {
    const { sliding, reallyCrash } = this.#input;
    const loop = backoffUntil(
      () => this.#f(),
      this.#manager,
      sliding,
      this.#stop.signal,
      reallyCrash ? {} : { onError: () => this.#panicsHandled++ },
    );
    const panicPropagated = await loop.then(
      () => false,
      (error: unknown) => error instanceof Panic,
    );
    // Go hands a panic to its handlers before it crashes; here the rejection is the only report.
    if (panicPropagated) this.#panicsHandled++;
    this.#end = { returnedAt: this.#recording.elapsed(), panicPropagated };
  }

  #f(): void {
    const { f, stop, panics = [] } = this.#input;
    const call = this.#starts.length;
    // A loop that does not wait leaves no turn to its driver.
    if (call === MOST) this.#stop.abort();
    const duration = toMilliseconds(f[Math.min(call, f.length - 1)] ?? 0);
    this.#starts.push(this.#recording.elapsed());
    const untilStop =
      stop.when === "inF" && stop.call === call ? toMilliseconds(stop.after) : duration;
    this.#clock.stepSync(untilStop);
    if (stop.when === "inF" && stop.call === call) this.#stop.abort();
    this.#clock.stepSync(duration - untilStop);
    this.#ends.push(this.#recording.elapsed());
    if (panics.includes(call)) throw new Panic(`call ${call}`);
  }

  /** What the driver does when it finds the loop waiting. */
  #drive(): void {
    const { stop, jump } = this.#input;
    const isTheWait = stop.when === "inWait" && this.#starts.length > stop.call;
    if (!isTheWait) {
      this.#clock.stepSync(jump === undefined ? this.#left() : toMilliseconds(jump));
    } else if (stop.order === "after" && this.#starts.length === stop.call + 1) {
      this.#clock.stepSync(toMilliseconds(stop.after));
    } else {
      if (stop.order === undefined) this.#clock.stepSync(toMilliseconds(stop.after));
      this.#stop.abort();
    }
  }

  /** How long until the loop's timer fires. */
  #left(): number {
    const { deadline } = this.#clock.pending()[0] ?? { deadline: 0 };
    return Math.max(deadline - this.#clock.monotonic(), 0);
  }
}
