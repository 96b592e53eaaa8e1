import type { Clock, Timer } from "@holdfast/clock";
import {
  type Course,
  type Line,
  type OpenCall,
  type SeamTimer,
  Tape,
} from "@holdfast/controller/recording";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import type { Incident, RecordedCall } from "./incident.ts";

export interface RerunTapeOptions {
  readonly incident: Incident;
  /** The clock of the world. */
  readonly clock: Clock;
  /** Whether linked systems are called. If not, the recording answers. */
  readonly hasWorld: boolean;
  /** Draws how much later answers come, in milliseconds. */
  readonly lateBy: (duration: number) => number;
  /** Called for each call of a linked system. */
  readonly onCall: (text: string) => void;
}

/** Calls that are no calls of linked systems. */
const OWN = /^(stop$|callback$|signal |transport\.|health server\.)/;

/** Whether a call is one of a linked system. */
export function isOfSystem(text: string): boolean {
  return !OWN.test(text);
}

/** Milliseconds by which a call may come earlier than the recorded one whose instants it gets. */
const EARLY = 100;

/** The seams of a program in a world: requests are done, and linked systems answer as they were recorded. */
export class RerunTape extends Tape {
  readonly random: Random;
  readonly machine: Clock;
  readonly wall: number;
  readonly #options: RerunTapeOptions;
  readonly #offset: number;
  readonly #timers = new WeakMap<SeamTimer, Timer>();
  /** Recorded calls that were not made yet, by their text. */
  readonly #left: Map<string, RecordedCall[]>;
  /** The latest answer of each text. */
  readonly #latest = new Map<string, RecordedCall>();

  constructor(options: RerunTapeOptions) {
    const { incident, clock, hasWorld } = options;
    super(hasWorld ? new Map() : new KnownMakers(incident.makers));
    this.#options = options;
    this.random = seededRandom(incident.head.seed);
    this.machine = clock;
    this.wall = incident.head.wall;
    this.#offset = incident.head.mono - clock.monotonic();
    this.#left = new Map([...incident.calls].map(([text, calls]) => [text, [...calls]]));
  }

  override read(): number {
    return this.machine.monotonic() + this.#offset;
  }

  override arm(timer: SeamTimer, delay: number): void {
    const armed = this.#timers.get(timer);
    if (armed !== undefined) this.outside(() => armed.reset(delay));
    else {
      const ring = (): void => this.inside(() => timer.ring());
      const arm = (): Timer => this.machine.afterFunc(delay, ring, timer.options);
      this.#timers.set(timer, this.outside(arm));
    }
  }

  /** A timer waits no longer. */
  override disarm(timer: SeamTimer): void {
    this.outside(() => this.#timers.get(timer)?.stop());
  }

  override open(ask: Line, course: Course): OpenCall {
    let isOpen = true;
    const take: Course["take"] = (input, live) => {
      if (isOpen) this.inside(() => course.take(input, live));
    };
    const text = `${ask["c"]}`;
    const isLinked = ask.k === "l" && isOfSystem(text);
    if (isLinked) this.#options.onCall(text);
    const isDone = ask.k === "q" || (isLinked && this.#options.hasWorld);
    const end = isDone
      ? this.outside(() => course.begin(take))
      : this.outside(() => this.#answer(text, take, isLinked));
    return {
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        end?.();
      },
    };
  }

  override async run<Value>(program: () => Promise<Value>): Promise<Value> {
    return await this.inside(program);
  }

  /** Answers as it was recorded, or as the same call was answered before. */
  #answer(text: string, take: Course["take"], isLinked: boolean): () => void {
    const now = this.read();
    const next = this.#left.get(text)?.shift();
    const recorded = next ?? (isLinked ? this.#latest.get(text) : undefined);
    if (recorded !== undefined) this.#latest.set(text, recorded);
    const { at: asked = 0, inputs = [] } = recorded ?? {};
    const timers = inputs.map(({ at, line }) => {
      const isThen = next !== undefined && asked <= now + EARLY && at >= now;
      const delay = isThen ? at - now : at - asked;
      const late = isLinked ? this.#options.lateBy(Math.min(delay, 1_000)) : 0;
      return this.machine.afterFunc(delay + late, () => take(line, undefined));
    });
    if (isLinked && recorded === undefined)
      timers.push(this.machine.afterFunc(1, () => take(...this.#guess(text))));
    return () => {
      for (const timer of timers) timer.stop();
    };
  }

  /** The answer to a call that is not recorded: none, if its method has never answered anything else. */
  #guess(text: string): Parameters<Course["take"]> {
    const method = text.slice(0, text.indexOf("(") + 1);
    const known = [...this.#options.incident.calls].filter(([one]) => one.startsWith(method));
    const answers = known.flatMap(([, calls]) => calls.flatMap(({ inputs }) => inputs));
    const values = answers.filter(({ line }) => "v" in line).map(({ line }) => line);
    const isVoid = values.every(({ v }) => JSON.stringify(v) === JSON.stringify(values[0]?.["v"]));
    if (values[0] !== undefined && isVoid) return [values[0], undefined];
    const value = new Error(
      `shadow: the recording has no answer to ${text}: pass the option world, and link its systems`,
    );
    return [{ k: "L", e: true }, { value }];
  }
}

/** The methods of linked systems, as the recording has found them: those that make an object are called. */
class KnownMakers extends Map<string, "step" | "maker"> {
  readonly #makers: ReadonlySet<string>;

  constructor(makers: ReadonlySet<string>) {
    super();
    this.#makers = makers;
  }

  override get(name: string): "step" | undefined {
    return this.#makers?.has(name) ? undefined : "step";
  }
}
