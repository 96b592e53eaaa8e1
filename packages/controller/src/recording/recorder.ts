import type { Clock, Timer } from "@holdfast/clock";
import { type LoopClock, machineLoop, uuidFrom } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import type { Logger } from "../logger.ts";
import type { RecordingOptions } from "./recording-options.ts";
import { Redactor } from "./redactor.ts";
import type { SeamTimer } from "./seam-clock.ts";
import { Segments } from "./segments.ts";
import { type Course, type Line, type Live, type OpenCall, Tape } from "./tape.ts";
import { encode } from "./values.ts";

/** Version of the format. */
export const FORMAT = 1;

/** Milliseconds by which the wall clock may leave the monotonic one before it counts as set. */
const WALL_IS_SET = 10;

/** A program to record. */
export interface RecorderOptions {
  /** The name of the program. */
  readonly name: string;
  /** The name of the process. */
  readonly identity: string;
  /** Where the recording goes, and how large it may be. */
  readonly recording: RecordingOptions;
  /** The clock of the machine. */
  readonly clock: Clock;
  /** Receives a line when the disk is full or slow. */
  readonly logger: Logger;
  /** Draws the seed. Default: a random one. */
  readonly random?: Random | undefined;
  /** What a replay must know beside the inputs: JSON. */
  readonly program: unknown;
}

/** Notes the inputs of a program, in the order in which the program got them. */
export class Recorder extends Tape {
  /** The chance of the program, of the seed in the head. */
  readonly random: Random;
  readonly machine: Clock;
  /** Replaces secrets. */
  readonly redactor: Redactor;
  readonly #segments: Segments;
  readonly #grid: number;
  readonly #timers = new WeakMap<SeamTimer, Timer>();
  readonly #open = new Set<OpenCall>();
  readonly #queue: (() => void)[] = [];
  #now: number;
  #wall: number;
  #reads = 0;
  #calls = 0;

  constructor({ name, identity, recording, clock, logger, random, program }: RecorderOptions) {
    super(new KnownCalls((c) => this.#write({ k: "m", c })));
    this.machine = clock;
    const { grid = 2, segmentTime = 600_000, flushInterval = 1_000, directory } = recording;
    const { maxBytes = 256 * 1024 * 1024, segmentBytes = 8 * 1024 * 1024 } = recording;
    const seed = random
      ? Math.floor(random() * 2 ** 32)
      : Number.parseInt(uuidFrom(random).slice(0, 8), 16);
    this.random = seededRandom(seed);
    this.redactor = new Redactor(recording.derive);
    this.#grid = grid;
    this.#now = ceil(clock.monotonic());
    this.#wall = this.#wallNow();
    const mono = this.#now;
    const wall = this.#wall;
    const head = (segment: number): Line => {
      const version = { k: "head", v: FORMAT, name, identity, segment };
      return { ...version, seed, mono, wall, grid, program };
    };
    const limits = { maxBytes, segmentBytes, segmentTime, flushInterval };
    this.#segments = new Segments({ directory, name, identity, clock, logger, head, ...limits });
  }

  override get wall(): number {
    return this.#wall;
  }

  override read(): number {
    const now = this.machine.monotonic();
    if (!this.isInside) return now;
    this.#reads += 1;
    if (now - this.#now >= this.#grid) {
      this.#now = ceil(now);
      this.#write({ k: "R", n: this.#reads, t: this.#now });
    }
    return this.#now;
  }

  override arm(timer: SeamTimer, delay: number): void {
    const armed = this.#timers.get(timer);
    if (armed !== undefined) {
      armed.reset(delay);
      return;
    }
    const ring = (): void => {
      const { label } = timer.options;
      this.#note(
        { k: "T", ...(label !== undefined && { c: label }), d: timer.deadline },
        timer.deadline,
      );
      timer.ring();
    };
    this.#timers.set(timer, this.machine.afterFunc(delay, ring, timer.options));
  }

  /** A timer waits no longer. */
  override disarm(timer: SeamTimer): void {
    this.#timers.get(timer)?.stop();
  }

  override open(ask: Line, { take, begin }: Course): OpenCall {
    const n = ++this.#calls;
    this.#write({ ...ask, n });
    let end: (() => void) | undefined;
    let isOpen = true;
    const deliver = (input: Line, live: Live | undefined): void => {
      if (!isOpen) return;
      this.#note({ ...input, n });
      this.inside(() => take(input, live));
    };
    const call: OpenCall = {
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#open.delete(call);
        this.outside(() => end?.());
      },
    };
    this.#open.add(call);
    end = this.outside(() => begin((input, live) => this.#later(() => deliver(input, live))));
    return call;
  }

  override async run<Value>(program: () => Promise<Value>): Promise<Value> {
    try {
      const value = await new Promise<Value>((resolve, reject) => {
        const begin = (): void => {
          this.#note({ k: "begin" });
          this.inside(program).then(resolve, reject);
        };
        this.#later(begin);
      });
      this.#write({ k: "end" });
      return value;
    } catch (error) {
      this.#write({ k: "end", e: encode(error) });
      throw error;
    } finally {
      for (const call of this.#open) call.close();
      await this.#segments.close();
    }
  }

  /** Delivers in a turn of its own, in the order of the calls. On a fake clock no time passes before. */
  #later(deliver: () => void): void {
    this.#queue.push(deliver);
    const next = (): void => this.#queue.shift()?.();
    this.outside(() => {
      const loop = (this.machine as LoopClock)[machineLoop];
      if (loop === undefined) this.machine.afterFunc(0, next, { label: "turn" });
      else loop.afterTurn(next);
    });
  }

  /** Notes an input: the time of the program is that of the input. */
  #note(input: Line, due = Number.NEGATIVE_INFINITY): void {
    this.#now = Math.max(this.#now, ceil(this.machine.monotonic()), due);
    this.#reads = 0;
    const wall = this.#wallNow();
    const isSet = Math.abs(wall - this.#wall) > WALL_IS_SET;
    if (isSet) this.#wall = wall;
    this.#write({ ...input, t: this.#now, ...(isSet && { w: wall }) });
  }

  #wallNow(): number {
    return Math.round(this.machine.now() - this.machine.monotonic());
  }

  #write(line: Line): void {
    this.#segments.write(this.redactor.replaceIn(line) as Line);
  }
}

/** The calls of linked systems: those that make objects are noted, since a replay calls no other. */
class KnownCalls extends Map<string, "step" | "maker"> {
  readonly #onMaker: (name: string) => void;

  constructor(onMaker: (name: string) => void) {
    super();
    this.#onMaker = onMaker;
  }

  override set(name: string, kind: "step" | "maker"): this {
    if (kind === "maker" && !this.has(name)) this.#onMaker(name);
    return super.set(name, kind);
  }
}

/** Microseconds, so that the text of a time is short and the time itself the same after it was read. */
function ceil(instant: number): number {
  return Math.ceil(instant * 1_000) / 1_000;
}
