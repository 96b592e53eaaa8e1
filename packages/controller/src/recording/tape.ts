import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, onAbort } from "@holdfast/clock";
import { type LinkedCall, Linker } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import type { SignalSource } from "../manager/stop-signals.ts";
import { SeamClock, type SeamTime, type SeamTimer } from "./seam-clock.ts";
import { type Codec, Values } from "./values.ts";

/** A line of a recording: its kind, the number of its call, its time, and fields of its kind. */
export interface Line {
  /** Its kind. */
  readonly k: string;
  /** The number of its call. */
  readonly n?: number;
  /** Its monotonic time, in milliseconds. */
  readonly t?: number;
  readonly [field: string]: unknown;
}

/** An input as it came. A recording has it; a replay has the line alone. */
export interface Live {
  /** The input itself. */
  readonly value: unknown;
}

/** What a program gets from a call, and how the call is done. */
export interface Course {
  /** Gives an input to the program. */
  readonly take: (input: Line, live: Live | undefined) => void;
  /** Does the call. `emit` is called for each input of it. Returns a function that ends it. A replay does no call. */
  readonly begin: (emit: (input: Line, live?: Live) => void) => (() => void) | undefined;
  /** The part of a line that two equal calls have in common. Default: the line. */
  readonly comparable?: ((line: Line) => unknown) | undefined;
  /** Called in a replay when a call is that of a recorded line. */
  readonly onMatch?: ((recorded: Line) => void) | undefined;
}

/** A signal whose abort is an input. */
export interface StopInput extends Disposable {
  /** Aborts when the input has its turn. */
  readonly signal: AbortSignal;
}

/** A call of the program to the outside. */
export interface OpenCall {
  /** The program listens no longer: inputs that come later are dropped, and the call ends. */
  close(): void;
}

/** Kinds of lines that note calls of the program; those of inputs are {@link INPUTS}. */
export const CALLS: ReadonlySet<string> = new Set(["q", "l"]);
export const INPUTS: ReadonlySet<string> = new Set([
  "begin",
  "b",
  "h",
  "c",
  "e",
  "x",
  "L",
  "F",
  "T",
  "S",
]);

/** The tape whose program runs. All share it: before Node 24 each storage that was ever used makes every promise slower. */
const inside = new AsyncLocalStorage<Tape | undefined>();

/**
 * The seams of a program: time, chance, calls to the outside and the wish to stop pass here. A `Recorder` notes what
 * enters; a `Player` gives a program the same again.
 *
 * Each input is a turn of its own: the program gets it, and all its microtasks end before the next. So the order of the
 * inputs decides all that a program does.
 */
export abstract class Tape implements SeamTime {
  /** The clock of the program: its time is that of the latest input. */
  readonly clock: Clock;
  /** The chance of the program, of the seed in the head. */
  abstract readonly random: Random;
  abstract readonly machine: Clock | undefined;
  abstract readonly wall: number;
  readonly #linker: Linker;
  readonly #values: Values;

  constructor(known: Map<string, "step" | "maker">, codecs: readonly Codec[] = []) {
    this.clock = new SeamClock(this);
    this.#values = new Values(codecs);
    this.#linker = new Linker({
      ...{ known, isAwake: () => true, show: (value) => this.#values.show(value) },
      step: (call, perform) => this.#step(call, perform),
      probe: (name, perform) => this.away(name, perform),
      callback: (callback, linked) => this.#callback(callback, linked),
    });
  }

  abstract read(): number;
  abstract arm(timer: SeamTimer, delay: number): void;
  /** A timer waits no longer. */
  abstract disarm(timer: SeamTimer): void;

  /** Notes a call, and begins it. */
  abstract open(ask: Line, course: Course): OpenCall;

  /** Runs a program in the seams, once, until it ends. */
  abstract run<Value>(program: () => Promise<Value>): Promise<Value | undefined>;

  get isInside(): boolean {
    return inside.getStore() === this;
  }

  /** Runs code of the program. */
  inside<Result>(run: () => Result): Result {
    return inside.run(this, run);
  }

  /** Runs code that is not recorded: its reads of the clock and its timers are those of the machine. */
  outside<Result>(run: () => Result): Result {
    return inside.run(undefined, run);
  }

  /** Runs a call of a linked system, whose code is outside to its end. */
  protected away<Result>(_name: string, perform: () => Result): Result {
    return this.outside(perform);
  }

  /** Links a system: the answers of its calls are inputs. */
  readonly link = <System extends object>(system: System, name: string): System =>
    this.#linker.link(system, name);

  /** A source of signals whose signals are inputs. */
  signals(source: SignalSource): SignalSource {
    const calls = new Map<() => void, OpenCall>();
    return {
      on: (name, listener) => {
        const begin: Course["begin"] = (emit) => {
          const arrived = (): void => emit({ k: "S" });
          source.on(name, arrived);
          return () => source.off(name, arrived);
        };
        calls.set(listener, this.open({ k: "l", c: `signal ${name}` }, { take: listener, begin }));
      },
      off: (_, listener) => calls.get(listener)?.close(),
      exit: (code) => source.exit(code),
    };
  }

  /** A signal whose abort is an input. Disposing of it leaves no listener. */
  stop(signal: AbortSignal): StopInput {
    const stop = new AbortController();
    const call = this.open(
      { k: "l", c: "stop" },
      {
        take: ({ v }, live) => stop.abort(live === undefined ? this.#values.decode(v) : live.value),
        begin: (emit) => {
          const abort = (reason: unknown): void =>
            emit({ k: "S", v: this.#values.encode(reason) }, { value: reason });
          const subscription = onAbort(signal, abort);
          return () => subscription[Symbol.dispose]();
        },
      },
    );
    return { signal: stop.signal, [Symbol.dispose]: () => call.close() };
  }

  #step({ name, text, args }: LinkedCall, perform: () => Promise<unknown>): Promise<unknown> {
    const signals = args.filter((arg) => arg instanceof AbortSignal);
    return new Promise((resolve, reject) => {
      const course: Course = {
        take: (input, live) => {
          call.close();
          if ("v" in input)
            resolve(live === undefined ? this.#values.decode(input["v"]) : live.value);
          else if ("a" in input) reject(signals[input["a"] as number]?.reason);
          else reject(live === undefined ? this.#values.decode(input["e"]) : live.value);
        },
        begin: (emit) => {
          const answer = (value: unknown): void =>
            emit({ k: "L", v: this.#values.encode(value) }, { value });
          const fail = (error: unknown): void => {
            const at = signals.findIndex(({ aborted, reason }) => aborted && reason === error);
            emit(at < 0 ? { k: "L", e: this.#values.encode(error) } : { k: "L", a: at }, {
              value: error,
            });
          };
          this.away(name, perform).then(answer, fail);
          return undefined;
        },
      };
      const call = this.open({ k: "l", c: text }, course);
    });
  }

  /** A system calls a function of the program: an input. Its result comes later, as a promise. */
  #callback(
    callback: (...args: unknown[]) => unknown,
    linked: (value: unknown) => unknown,
  ): (...args: unknown[]) => unknown {
    let emitTo: Parameters<Course["begin"]>[0] | undefined;
    this.open(
      { k: "l", c: "callback" },
      {
        take: ({ v }, live) => {
          const { args, answer } = (live?.value ?? { args: this.#values.decode(v) }) as Called;
          const result = (async () => callback(...args.map(linked)))();
          if (answer === undefined) result.catch(() => {});
          else answer(result);
        },
        begin: (emit) => {
          emitTo = emit;
          return undefined;
        },
      },
    );
    return (...args) =>
      new Promise((answer) =>
        emitTo?.(
          { k: "F", v: args.map((arg) => this.#values.encode(arg)) },
          { value: { args, answer } },
        ),
      );
  }
}

/** A call of a function of the program. */
interface Called {
  readonly args: readonly unknown[];
  readonly answer?: ((result: Promise<unknown>) => void) | undefined;
}
