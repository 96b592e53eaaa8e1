import { realClock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/kit";
import { type Random, withTimeout } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { firstDifference } from "./difference.ts";
import { type Foreign, foreignOf, watchForeign } from "./foreign.ts";
import type { Recording } from "./recording.ts";
import type { SeamTimer } from "./seam-clock.ts";
import { CALLS, type Course, INPUTS, type Line, type OpenCall, Tape } from "./tape.ts";
import { type Codec, Values } from "./values.ts";

/** Inputs before a divergence that are shown. */
const SHOWN = 20;

/** The first call of a program that differs from the recording. */
export interface Divergence {
  /** The call of the program. Undefined if it did not make the recorded one. */
  readonly call: Line | undefined;
  /** The recorded call. Undefined if there is none. */
  readonly recorded: Line | undefined;
  /** Where the two differ, as in `body.spec.replicas`. Empty if one is missing. */
  readonly path: string;
  /** The last inputs before, at most 20. */
  readonly inputs: readonly Line[];
  /** Timers of the program that were due, and that did not fire in the recording. */
  readonly overdue: readonly string[];
}

/** A replay that ended. */
export interface Replayed {
  /** Undefined if the program did the same again. */
  readonly divergence: Divergence | undefined;
  /** Calls that were equal. */
  readonly calls: number;
  /** Inputs that the program got. */
  readonly inputs: number;
  /** Time, chance and I/O that the program used, and that the recording does not have. */
  readonly foreign: readonly Foreign[];
  /** Labels of the timers that wait at the end, if the recording has the end of the program. */
  readonly timers: readonly string[];
}

/** How to replay. */
export interface PlayerOptions {
  /** Real milliseconds to wait for a call that comes from a thread. */
  readonly patience: number;
  /** Those of the recorder. */
  readonly codecs?: readonly Codec[] | undefined;
}

/** A call of the program. */
interface Call {
  readonly ask: Line;
  readonly take: Course["take"];
  readonly onMatch: Course["onMatch"];
  /** Whether a recorded call is the same. */
  readonly isRecorded: (line: Line) => boolean;
  isOpen: boolean;
  /** The number of the recorded call. 0 before it is matched. */
  number: number;
}

/** An input, and the lines that follow it up to the next: the program has to make these calls. */
interface Turn {
  /** More than one if they came together. */
  readonly inputs: Line[];
  readonly reads: Line[];
  readonly calls: Line[];
  /** `"cut"`: the process was killed here, and may have made more calls. */
  readonly isLast?: "end" | "cut";
  /** The line of the end. */
  readonly end?: Line;
}

/** Gives a program the inputs of a recording, and compares its calls. */
export class Player extends Tape {
  /** The chance of the program, of the seed in the head. */
  readonly random: Random;
  readonly machine = undefined;
  readonly #recording: Recording;
  readonly #patience: number;
  readonly #timers = new Set<SeamTimer>();
  readonly #open = new Map<number, Call>();
  /** Calls that came before their turn. */
  readonly #early: Call[] = [];
  /** Those of them that came before this turn. */
  #due = new Set<Call>();
  readonly #foreign: Foreign[] = [];
  readonly #recorded: RecordedCalls;
  readonly #last: Line[] = [];
  #now: number;
  #wall: number;
  #reads = 0;
  #turn: Turn = { inputs: [], reads: [], calls: [] };
  #calls = 0;
  #inputs = 0;
  #divergence: Divergence | undefined;
  #onCall: () => void = () => {};

  constructor(recording: Recording, { patience, codecs }: PlayerOptions) {
    const recorded = new RecordedCalls(recording);
    super(recorded, codecs);
    this.#recorded = recorded;
    const { seed, mono, wall, segment } = recording.head;
    if (segment !== 1)
      throw new RangeError(
        `replay: the first segment of the process must be there, got segment ${segment}: raise maxBytes, so that the ring keeps it, or use shadow, which begins at a snapshot`,
      );
    this.#recording = recording;
    this.#patience = patience;
    this.random = seededRandom(seed);
    this.#now = mono;
    this.#wall = wall;
  }

  override get wall(): number {
    return this.#wall;
  }

  /** The result of the replay, after `run`. */
  get replayed(): Replayed {
    const timers = this.#turn.isLast === "end" ? [...this.#timers].map(labelOf) : [];
    return {
      divergence: this.#divergence,
      calls: this.#calls,
      inputs: this.#inputs,
      foreign: [...this.#foreign, ...this.#recorded.foreign],
      timers,
    };
  }

  override read(): number {
    if (!this.isInside) return this.#now;
    this.#reads += 1;
    const [next] = this.#turn.reads;
    if (next?.n === this.#reads) {
      this.#turn.reads.shift();
      this.#now = next.t as number;
    }
    return this.#now;
  }

  override arm(timer: SeamTimer): void {
    this.#timers.delete(timer); // behind those of the same instant
    this.#timers.add(timer);
  }

  /** A timer waits no longer. */
  override disarm(timer: SeamTimer): void {
    this.#timers.delete(timer);
  }

  override open(ask: Line, { take, comparable = whole, onMatch }: Course): OpenCall {
    const isRecorded = (line: Line): boolean =>
      JSON.stringify(comparable(withoutNumber(line))) === JSON.stringify(comparable(ask));
    const call: Call = { ask, take, isRecorded, onMatch, isOpen: true, number: 0 };
    if (this.#divergence === undefined) {
      const [recorded] = this.#turn.calls;
      if (recorded !== undefined && isRecorded(recorded)) this.#match(call);
      else if (this.#patience > 0)
        this.#early.push(call); // of a thread that is faster than in the recording
      else if (this.#turn.isLast !== "cut" || recorded !== undefined) this.#diverge(ask, recorded);
    }
    return {
      close: () => {
        call.isOpen = false;
        this.#open.delete(call.number);
      },
    };
  }

  /** A call is the next one that is recorded. */
  #match(call: Call): void {
    const recorded = this.#turn.calls.shift();
    this.#calls += 1;
    call.number = recorded?.n as number;
    if (recorded !== undefined) call.onMatch?.(recorded);
    if (call.isOpen) this.#open.set(call.number, call);
    this.#matchEarly();
    if (this.#turn.calls.length === 0) this.#onCall();
  }

  override async run<Value>(program: () => Promise<Value>): Promise<Value | undefined> {
    using _watch = watchForeign(this, this.#foreign);
    let value: Value | undefined;
    let end: Line | undefined;
    const begin = (): void => {
      this.inside(program).then(
        (result) => {
          value = result;
          end = { k: "end" };
        },
        (error: unknown) => {
          end = { k: "end", e: new Values([]).encode(error) };
        },
      );
    };
    for (const turn of turnsOf(this.#recording)) {
      this.#begin(turn);
      for (const input of turn.inputs)
        if (input.k === "begin") begin();
        else this.#deliver(input);
      await this.#settle(turn);
      if (this.#divergence !== undefined) break;
    }
    // A process that was killed may have made the calls of its last turn.
    const early = this.#early.find((call) => this.#turn.isLast === "end" || this.#due.has(call));
    if (early !== undefined) this.#diverge(early.ask, undefined);
    this.#compareEnds(end, this.#turn.end);
    return value;
  }

  /** A program that fails and one that does not differ, though all their calls are equal. */
  #compareEnds(end: Line | undefined, recorded: Line | undefined): void {
    if (recorded === undefined || (end === undefined && !("e" in recorded))) return;
    if (end === undefined || "e" in end !== "e" in recorded) this.#diverge(end, recorded);
  }

  /** Waits for all calls of a turn. */
  async #settle(turn: Turn): Promise<void> {
    await this.outside(() => yieldTurn(realClock));
    this.#matchEarly();
    if (turn.calls.length > 0 && this.#patience > 0) await this.#wait();
    const [missing] = turn.calls;
    if (missing !== undefined) this.#diverge(this.#early[0]?.ask, missing);
  }

  #begin(turn: Turn): void {
    this.#turn = turn;
    this.#due = new Set(this.#early);
    this.#reads = 0;
    for (const input of turn.inputs) {
      this.#now = input.t as number;
      if (typeof input["w"] === "number") this.#wall = input["w"];
      this.#inputs += 1;
      this.#last.push(input);
      if (this.#last.length > SHOWN) this.#last.shift();
    }
  }

  #deliver(input: Line): void {
    const { k, n, c, d } = input;
    if (k !== "T") {
      const call = this.#open.get(n as number);
      if (call !== undefined) this.inside(() => call.take(input, undefined));
      return;
    }
    const timer = [...this.#timers].find(
      ({ deadline, options }) => deadline === d && options.label === c,
    );
    if (timer === undefined) return;
    this.#timers.delete(timer);
    this.inside(() => timer.ring());
  }

  /** Calls that came early may be those of this turn. */
  #matchEarly(): void {
    const at = this.#early.findIndex(({ isRecorded }) => isNext(this.#turn, isRecorded));
    if (at >= 0) this.#match(this.#early.splice(at, 1)[0] as Call);
  }

  /** Waits until all calls of the turn are made, or as long as the patience lasts. */
  async #wait(): Promise<void> {
    await this.outside(async () => {
      const made = new Promise<void>((resolve) => {
        this.#onCall = resolve;
      });
      const limit = { clock: realClock, label: "patience" };
      await withTimeout(() => made, this.#patience, limit).catch(() => {});
      await yieldTurn(realClock);
    });
  }

  #diverge(call: Line | undefined, recorded: Line | undefined): void {
    const overdue = [...this.#timers].filter(({ deadline }) => deadline < this.#now);
    this.#divergence ??= {
      call,
      recorded: recorded && withoutNumber(recorded),
      path: call && recorded ? firstDifference(withoutNumber(recorded), call) : "",
      inputs: [...this.#last],
      overdue: overdue.map(labelOf),
    };
    this.#onCall();
  }
}

function isNext({ calls: [next] }: Turn, isRecorded: Call["isRecorded"]): boolean {
  return next !== undefined && isRecorded(next);
}

const whole = (line: Line): unknown => line;

function withoutNumber({ n: _, ...line }: Line): Line {
  return line;
}

function labelOf({ options, deadline }: SeamTimer): string {
  return `${options.label ?? "timer"} at ${deadline}`;
}

function gapText({ files }: Recording, { lost, c = `${lost} lines are lost` }: Line): string {
  return `replay: the recording has a gap, ${c}, in ${files[0]} and its next segments: what follows cannot be replayed`;
}

/** The turns of a recording. */
function* turnsOf(recording: Recording): Generator<Turn, void, undefined> {
  let turn: Turn | undefined;
  let end: Line | undefined;
  for (const line of recording.lines()) {
    if (line.k === "gap") throw new Error(gapText(recording, line));
    if (line.k === "end") end = line;
    if (!INPUTS.has(line.k) || line["y"] === 1) addTo(turn, line);
    else {
      if (turn !== undefined) yield turn;
      turn = { inputs: [line], reads: [], calls: [] };
    }
  }
  if (turn !== undefined) yield { ...turn, ...(end ? { isLast: "end", end } : { isLast: "cut" }) };
}

function addTo(turn: Turn | undefined, line: Line): void {
  if (line.k === "R") turn?.reads.push(line);
  else if (INPUTS.has(line.k)) turn?.inputs.push(line);
  else if (CALLS.has(line.k)) turn?.calls.push(line);
}

/** The methods of linked systems, as the recording has found them: a replay calls those that make an object. */
class RecordedCalls extends Map<string, "step" | "maker"> {
  readonly #makers = new Set<string>();
  /** Causes of calls that are no inputs. */
  readonly foreign: Foreign[] = [];

  constructor(recording: Recording) {
    super();
    for (const line of recording.lines())
      if (line.k === "m") this.#makers.add(line["c"] as string);
      else if (line.k === "f") this.foreign.push(foreignOf(line));
  }

  override get(name: string): "step" | undefined {
    return this.#makers.has(name) ? undefined : "step";
  }
}
