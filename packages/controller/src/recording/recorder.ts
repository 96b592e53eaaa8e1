import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock, Timer } from "@holdfast/clock";
import { type LoopClock, machineLoop, uuidFrom } from "@holdfast/kit";
import { versionOf } from "@holdfast/kit/node";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import type { Logger } from "../logger.ts";
import { stackOf } from "./foreign.ts";
import { CONTROLLER, FORMAT, type Head } from "./head.ts";
import type { RecordingOptions } from "./recording-options.ts";
import { Redactor } from "./redactor.ts";
import type { SeamTimer } from "./seam-clock.ts";
import { Segments } from "./segments.ts";
import type { Fold } from "./snapshots.ts";
import { type Course, type Line, type Live, type OpenCall, Tape } from "./tape.ts";
import { type Codec, Values } from "./values.ts";

/** Milliseconds by which the wall clock may leave the monotonic one before it counts as set. */
const WALL_IS_SET = 10;

/** Systems of the library: they have the clock of the machine. */
const OWN = /^(transport|health server)\./;

/** Most calls without an input that are noted. */
const MOST_FOREIGN = 20;

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
  /** The versions of packages beside `@holdfast/controller` that decide what the program does. */
  readonly library?: Head["library"];
  /** For values of linked systems of which a copy is not the same. */
  readonly codecs?: readonly Codec[] | undefined;
  /**
   * Makes what folds the lines of the segments before into the snapshot of a segment. Its text runs in a worker, so it may use
   * globals only. Default: there are no snapshots.
   */
  readonly fold?: (() => Fold) | undefined;
}

/** The recorder of whose program a linked system has begun the code that runs. All share it, as a tape its storage. */
const awayFrom = new AsyncLocalStorage<Recorder | undefined>();

/** Notes the inputs of a program, in the order in which the program got them. */
export class Recorder extends Tape {
  /** The chance of the program, of the seed in the head. */
  readonly random: Random;
  readonly machine: Clock;
  /** Replaces secrets. */
  readonly redactor: Redactor;
  readonly #segments: Segments;
  readonly #grid: number;
  readonly #open = new Set<OpenCall>();
  readonly #queue: Arrival[] = [];
  /** Whether code runs that is not that of the program, up to its first `await`. */
  #isOutside = false;
  readonly #foreign = new Set<string>();
  #turn: Timer | "scheduled" | undefined;
  #now: number;
  #wall: number;
  #reads = 0;
  #calls = 0;

  constructor(options: RecorderOptions) {
    const { name, identity, recording, clock, logger, random, program } = options;
    super(new KnownCalls((c) => this.#write({ k: "m", c })), options.codecs);
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
    const library = { [CONTROLLER]: versionOf(CONTROLLER, import.meta.url), ...options.library };
    const head = (segment: number): Head => {
      const version = { k: "head", v: FORMAT, library, name, identity, segment } as const;
      return { ...version, seed, mono, wall, grid, program };
    };
    const limits = { maxBytes, segmentBytes, segmentTime, flushInterval };
    const { fold } = options;
    const common = { directory, name, identity, clock, logger };
    this.#segments = new Segments({ ...common, head, fold, ...limits });
  }

  override get wall(): number {
    return this.#wall;
  }

  override get isInside(): boolean {
    return !this.#isOutside && awayFrom.getStore() !== this;
  }

  override inside<Result>(run: () => Result): Result {
    const isAway = awayFrom.getStore() === this;
    return this.#enter(false, isAway ? () => awayFrom.run(undefined, run) : run);
  }

  override outside<Result>(run: () => Result): Result {
    return this.#enter(true, run);
  }

  protected override away<Result>(name: string, perform: () => Result): Result {
    return OWN.test(name) ? perform() : awayFrom.run(this, perform);
  }

  #enter<Result>(isOutside: boolean, run: () => Result): Result {
    const before = this.#isOutside;
    this.#isOutside = isOutside;
    try {
      return run();
    } finally {
      this.#isOutside = before;
    }
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
    if (timer.alarm !== undefined) {
      timer.alarm.reset(delay);
      return;
    }
    const ring = (): void => {
      const { label } = timer.options;
      this.#beginTurn();
      this.#note(
        { k: "T", ...(label !== undefined && { c: label }), d: timer.deadline },
        timer.deadline,
      );
      timer.ring();
    };
    timer.alarm = this.machine.afterFunc(delay, ring, timer.options);
  }

  /** A timer waits no longer. */
  override disarm(timer: SeamTimer): void {
    timer.alarm?.stop();
  }

  override open(ask: Line, { take, begin }: Course): OpenCall {
    const n = ++this.#calls;
    if (this.#turn === undefined) this.#noteForeign();
    this.#write({ ...ask, n });
    let end: (() => void) | undefined;
    let isOpen = true;
    const call: OpenCall = {
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#open.delete(call);
        if (end !== undefined) this.outside(end);
      },
    };
    const deliver = (arrivals: readonly Arrival[]): void => {
      if (!isOpen) return;
      for (const [at, { input }] of arrivals.entries())
        if (at === 0) this.#note({ ...input, n });
        else this.#write({ ...input, n, t: this.#now, y: 1 });
      this.inside(() => {
        for (const { input, live } of arrivals) take(input, live);
      });
    };
    this.#open.add(call);
    end = this.outside(() => begin((input, live) => this.#later({ input, live, deliver })));
    return call;
  }

  override async run<Value>(program: () => Promise<Value>): Promise<Value> {
    try {
      const value = await new Promise<Value>((resolve, reject) => {
        const begin = (): void => {
          this.#note({ k: "begin" });
          this.inside(program).then(resolve, reject);
        };
        this.#later({ input: { k: "begin" }, live: undefined, deliver: begin });
      });
      this.#write({ k: "end" });
      return value;
    } catch (error) {
      this.#write({ k: "end", e: new Values([]).encode(error) });
      throw error;
    } finally {
      for (const call of this.#open) call.close();
      if (typeof this.#turn === "object") this.#turn.stop();
      await this.#segments.close();
    }
  }

  /**
   * Delivers in a turn of its own, in the order of the calls; a head together with its end, if both are there. On a fake
   * clock no time passes before.
   */
  #later(arrival: Arrival): void {
    this.#queue.push(arrival);
    this.#beginTurn();
  }

  /** Until the next turn of the event loop, all that the program does comes of the latest input. */
  #beginTurn(): void {
    if (this.#turn !== undefined) return;
    const loop = (this.machine as LoopClock)[machineLoop];
    if (loop === undefined)
      this.#turn = this.machine.afterFunc(0, this.#nextTurn, { label: "turn" });
    else {
      this.#turn = "scheduled";
      loop.afterTurn(this.#nextTurn);
    }
  }

  readonly #nextTurn = (): void => {
    this.#turn = undefined;
    const arrival = this.#queue.shift();
    if (arrival === undefined) return;
    this.#beginTurn();
    const [following] = this.#queue;
    const isWhole =
      arrival.input.k === "h" &&
      following?.input.k === "e" &&
      following.deliver === arrival.deliver;
    arrival.deliver(isWhole ? [arrival, this.#queue.shift() as Arrival] : [arrival]);
  };

  /** Notes that the program calls in a turn without an input: other code has caused it. */
  #noteForeign(): void {
    if (this.#foreign.size === MOST_FOREIGN) return;
    const stack = stackOf("call");
    if (this.#foreign.has(stack)) return;
    this.#foreign.add(stack);
    this.#write({ k: "f", c: "an event or a promise of other code", s: stack });
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
    const { body } = line;
    if (!(body instanceof Uint8Array)) {
      this.#segments.write(this.redactor.replaceIn(line) as Line);
      return;
    }
    const kept = this.redactor.replaceBytes(body);
    const head = { ...line, body: undefined, len: kept.length };
    this.#segments.write(this.redactor.replaceIn(head) as Line, kept);
  }
}

/** An input that waits for its turn. */
interface Arrival {
  readonly input: Line;
  readonly live: Live | undefined;
  readonly deliver: (arrivals: readonly Arrival[]) => void;
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
