import { FakeClock, isLivelockError } from "@holdfast/clock/testing";
import { type Foreign, foreignText, Recording, watchForeign } from "@holdfast/controller/recording";
import type { WorldContext } from "@holdfast/explore";
import { func, type Kinds, messageOf, read, required, show, whole } from "@holdfast/kit";
import {
  type KubeRequest,
  type OperatorContext,
  type Resource,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { resourceList } from "../server/kinds.ts";
import type { Normalise } from "../server/normal-form.ts";
import { statusOf } from "./exchange.ts";
import { Incident } from "./incident.ts";
import { operatorOf, type Program } from "./replay.ts";
import { RerunApi } from "./rerun-api.ts";
import { isOfSystem, RerunTape } from "./rerun-tape.ts";
import { RerunTransport } from "./rerun-transport.ts";
import { type ShadowWrite, Written } from "./written.ts";

export const SHADOW_OPTIONS: Kinds<ShadowOptions<never>> = {
  upgradeFrom: required(func),
  setup: required(func),
  resources: resourceList,
  timings: whole(1),
  world: func,
  normalise: func,
};

/** The context of an operator in {@link shadow}. */
export interface ShadowContext<World> extends OperatorContext {
  /** The systems outside of the cluster, as the option `world` made them. */
  readonly world: World;
}

/** Options for {@link shadow}. */
export interface ShadowOptions<World = undefined> {
  /** The operator that was recorded: its option `setup` of `runOperator`. Called once for each run. */
  readonly upgradeFrom: (context: ShadowContext<World>) => StartWork | Promise<StartWork>;

  /** The operator to try. */
  readonly setup: (context: ShadowContext<World>) => StartWork | Promise<StartWork>;

  /**
   * Resources with their schemas, and those that only `setup` uses. Others are those that the recording names, without a
   * schema.
   *
   * @defaultValue those of the recording
   */
  readonly resources?: readonly Resource[] | undefined;

  /**
   * How often `upgradeFrom` runs: the first time as recorded, then with delays drawn from a seed. An integer of at least 1.
   *
   * @defaultValue `8`
   */
  readonly timings?: number | undefined;

  /**
   * Makes the systems outside of the cluster: fakes, on the clock of the run. Called once for each run. Without it calls of
   * linked systems get the recorded answers.
   *
   * @defaultValue none
   */
  readonly world?: ((context: WorldContext) => World) | undefined;

  /**
   * Changes the object of a write before writes are compared; undefined leaves the write out. Versions, times of the run
   * and uids never count, nor do writes of Leases and Events.
   *
   * @defaultValue every write counts as it is
   */
  readonly normalise?: Normalise | undefined;
}

/** The result of {@link shadow}. */
export interface ShadowReport {
  /** Writes of `setup` that no run of `upgradeFrom` makes, or none half as often, the first one first. */
  readonly news: readonly ShadowWrite[];

  /** Writes that all runs of `upgradeFrom` make, and `setup` does not. Empty beside a `loop`: the run was cut. */
  readonly lost: readonly ShadowWrite[];

  /**
   * Changes of others that were made to other objects than `setup` leaves, for example the status of a rollout that it does
   * not begin. Others might have done something else, which nobody can know.
   */
  readonly orphans: readonly string[];

  /** The most frequent request of `setup`, if it sends far more requests than were recorded and was ended. */
  readonly loop: string | undefined;

  /**
   * Values that one of both used and that no recording has, with their stacks: two runs wrote the same. In production they
   * may be others, and decide what is written.
   */
  readonly foreign: readonly Foreign[];
}

type Setup<World> = ShadowOptions<World>["setup"];

/** One run of an operator in the world of an incident. */
interface Run {
  readonly writes: ReadonlyMap<string, ShadowWrite>;
  readonly orphans: ReadonlyMap<string, number>;
  readonly loop: string | undefined;
  readonly failure: { readonly cause: unknown } | undefined;
  /** Reconciles, and calls of its setup, that did not end. */
  readonly pending: number;
  /** Timers that wait in the end. */
  readonly timers: number;
  readonly foreign: readonly Foreign[];
}

/** Milliseconds of the world after the last line of a recording: an operator that stops has ended by then. */
const AFTER = 60_000;

/**
 * Tries another version of an operator on a recording: what it would have written in the same world, compared with what the
 * recorded version writes there. No connection is opened, no real time passes.
 *
 * The world is a {@link FakeApi} in which others write what they wrote, when they wrote it at the latest. A write that was
 * recorded, on an object that is as recorded, gets the recorded answer; any other is done by the server. Faults, events and
 * ends of watches come as they came. Changes of others are merged into an object that is no longer as recorded, and named
 * in `orphans`: others do not react to a new program.
 *
 * A recording without the first segment of its process begins at its first snapshot: both programs start in the world of
 * that moment.
 *
 * `upgradeFrom` runs `timings` times, with other delays, to tell a change of the program from chance. `lost` and `news` are
 * empty for the same program. Both versions run with the default `cluster.backoff`, which no recording has.
 *
 * @param recording - of `openRecording` of `@holdfast/controller/recording`, with the first segment of its process or a
 * snapshot
 * @param options - see {@link ShadowOptions}
 * @returns a report. Rejects with an Error for a recording that is damaged, has a gap, or has neither its first segment nor a
 * snapshot, for an `upgradeFrom` that loops, and if `setup` fails where `upgradeFrom` does not. Rejects with an Error without a
 * verdict if one of them waited for something that no recording has, if a value that none has may have changed its writes, and if
 * `setup` or one of its reconciles does not end and has no `news`. Rejects with a RangeError or TypeError for a bad argument, and
 * for a resource that neither `resources` nor the recording has
 *
 * @example
 * ```ts no-run
 * import { openRecording } from "@holdfast/controller/recording";
 * import { shadow } from "@holdfast/fake-apiserver";
 * import type { OperatorSetup } from "@holdfast/kubernetes";
 *
 * declare const released: OperatorSetup;
 * declare const setup: OperatorSetup;
 * const { news, lost } = await shadow(await openRecording("flight/"), { upgradeFrom: released, setup });
 * for (const { request, body } of [...news, ...lost]) console.log(request, body);
 * ```
 */
export async function shadow<World = undefined>(
  recording: Recording,
  options: ShadowOptions<World>,
): Promise<ShadowReport> {
  if (!(recording instanceof Recording))
    throw new TypeError(`recording must be a Recording of openRecording, got ${show(recording)}`);
  const given = read("options", options, "shadow", SHADOW_OPTIONS);
  const { upgradeFrom, setup, resources = [], timings = 8 } = given;
  const incident = new Incident(recording, resources);
  const { world, normalise = (object) => object } = given;
  const runOf = (own: Setup<World>, timing: number): Promise<Run> =>
    runIn({ incident, recording, world, normalise }, own, timing);
  const olds: Run[] = [];
  for (let timing = 0; timing < timings; timing++) olds.push(await runOf(upgradeFrom, timing));
  const [first] = olds as [Run];
  requireNoWait([...first.foreign, ...incident.foreign]);
  requireRecorded(olds, incident);
  if (first.foreign.length > 0)
    requireRepeated(first, recordedTimes(incident, { hasWorld: world !== undefined, normalise }));
  const run = await runOf(setup, 0);
  requireNoWait(run.foreign);
  requireNoFailure(run, first);
  const report = compare(run, olds);
  requireEnd(run, first, report);
  const { news, lost, orphans } = report;
  if (news.length + lost.length + orphans.length === 0) return report;
  await requireSame(first, () => runOf(upgradeFrom, 0));
  await requireSame(run, () => runOf(setup, 0));
  return report;
}

/** @throws Error if the recorded program cannot be `upgradeFrom` */
function requireRecorded(olds: readonly Run[], incident: Incident): void {
  const looped = olds.find(({ loop }) => loop !== undefined);
  if (looped !== undefined)
    throw new Error(`shadow: upgradeFrom must be the recorded operator; it loops: ${looped.loop}`);
  const failed = olds.find(({ failure }) => failure !== undefined);
  if (failed !== undefined && !incident.fails)
    throw new Error("shadow: upgradeFrom must be the recorded operator; it fails", failed.failure);
}

/**
 * @throws Error if a program waited for something that no recording has: it never comes in the world of a shadow, and what
 * the program would have done then is not known
 */
function requireNoWait(foreign: readonly Foreign[]): void {
  const waits = foreign.filter(({ name }) => !OF_VALUES.test(name));
  if (waits.length > 0) throw noVerdict(waits);
}

/**
 * @throws Error if the recorded program used a value that no recording has, and does not write again what it wrote: no change
 * of it would be seen
 */
function requireRepeated({ writes, foreign }: Run, recorded: ReadonlyMap<string, number>): void {
  const made = timesOf(writes);
  for (const [request, times] of recorded)
    if (times > 2 * (made.get(request) ?? 0)) throw noVerdict(foreign);
}

/** How often the recorded program wrote each object, and called each method of a linked system. */
function recordedTimes(
  incident: Incident,
  { hasWorld, normalise }: { readonly hasWorld: boolean; readonly normalise: Normalise },
): Map<string, number> {
  const { mono } = incident.head;
  const recorded = new Written(incident.wallOf(mono));
  for (const exchange of incident.exchanges) {
    const { at, request } = exchange;
    recorded.add({ at, request, status: statusOf(exchange) });
  }
  // Fakes may answer otherwise. Calls of a snapshot were made before.
  const linked = hasWorld ? [] : [...incident.calls].filter(([text]) => isOfSystem(text));
  for (const [request, calls] of linked)
    for (const { at } of calls) if (at > mono) recorded.add({ at, request, status: 200 });
  return timesOf(recorded.byText(incident.served, new Map(), normalise));
}

/** How often each object was written and each method called, whatever the bodies and arguments. */
function timesOf(writes: Run["writes"]): Map<string, number> {
  const all = new Map<string, number>();
  for (const { request, times } of writes.values()) {
    const [name = ""] = request.split("(");
    all.set(name, (all.get(name) ?? 0) + times);
  }
  return all;
}

/** @throws Error if a program fails where the recorded one does not */
function requireNoFailure({ failure }: Run, old: Run): void {
  if (failure !== undefined && old.failure === undefined)
    throw new Error("shadow: setup fails where upgradeFrom does not", failure);
}

/**
 * @throws Error if the new version wrote nothing new and is at work in the end, and no more timers than those of the recorded
 * one wait: it waits for what never comes
 */
function requireEnd(run: Run, first: Run, { news, loop }: ShadowReport): void {
  const hasEnded = run.pending <= first.pending || run.timers > first.timers;
  if (!hasEnded && news.length === 0 && loop === undefined)
    throw new Error(
      "shadow: no verdict: setup or one of its reconciles did not end; it waits for others, or for something that no recording has",
    );
}

/** @throws Error if a program used something that no recording has, and it may have changed its writes */
async function requireSame(run: Run, repeat: () => Promise<Run>): Promise<void> {
  if (run.foreign.length === 0) return;
  const { news, lost } = compare(await repeat(), [run]);
  if (news.length + lost.length > 0) throw noVerdict(run.foreign);
}

function noVerdict(foreign: readonly Foreign[]): Error {
  return new Error(`shadow: no verdict: the operator used ${foreignText(foreign)}`);
}

/** Functions that return another value in each run, and take no time. They do no harm if two runs write the same. */
const OF_VALUES = /^(Math|performance|crypto|Date|new Date|fs|child_process|os|process)\b/;

function compare(run: Run, olds: readonly Run[]): ShadowReport {
  const most = (text: string): number =>
    Math.max(...olds.map(({ writes }) => writes.get(text)?.times ?? 0));
  const news = [...run.writes].filter(([text, { times }]) => times > 2 * most(text));
  const lost = [...(olds[0] as Run).writes].filter(
    ([text]) => !run.writes.has(text) && olds.every(({ writes }) => writes.has(text)),
  );
  const orphans = [...run.orphans.keys()].filter(
    (text) => !olds.some((old) => old.orphans.has(text)),
  );
  const { loop } = run;
  const values = (writes: [string, ShadowWrite][]): ShadowWrite[] =>
    writes.map(([, write]) => write);
  const foreign = [...(olds[0] as Run).foreign, ...run.foreign];
  const gone = loop === undefined ? values(lost) : [];
  return { news: values(news), lost: gone, orphans, loop, foreign };
}

/** Where programs run, and how their writes are compared. */
interface Place<World> {
  readonly incident: Incident;
  readonly recording: Recording;
  readonly world: ShadowOptions<World>["world"];
  readonly normalise: Normalise;
}

/** @param timing - 0 for the delays of the recording, others for drawn ones */
async function runIn<World>(
  { incident, recording, world, normalise }: Place<World>,
  setup: Setup<World>,
  timing: number,
): Promise<Run> {
  const { head, end, served } = incident;
  const start = incident.wallOf(head.mono);
  const clock = new FakeClock({ now: start });
  const api = new RerunApi(incident, clock);
  const random = seededRandom(timing);
  const lateBy = (duration: number): number => (timing === 0 ? 0 : random() * (2 * duration + 5));
  const written = new Written(start);
  // A program that begins reconciles each object that is there.
  const old = [...incident.history.places].filter(({ isOld }) => isOld);
  const sent = new Sends(3 * (incident.exchanges.length + old.length) + 300);
  const note = (request: KubeRequest | string, status: number): void => {
    sent.count(
      typeof request === "string" ? request : `${request.method} ${request.path.split("?")[0]}`,
      Math.max(0, api.time - end) / Math.max(1_000, end - head.mono),
    );
    written.add({ at: api.time - head.mono, status, request });
  };
  const common = { incident, clock, lateBy };
  const onCall = (text: string): void => note(text, 200);
  const tape = new RerunTape({ ...common, hasWorld: world !== undefined, onCall });
  const program = head.program as Program;
  const operator = operatorOf(recording, program, undefined);
  const description = operator.transport.description;
  const transport = new RerunTransport(description, { ...common, api, onAnswer: note });
  const counted = new Counted(setup);
  const systems = world?.({ clock: tape.clock, random: seededRandom(head.seed) }) as World;
  const run: { -readonly [Name in keyof Run]?: Run[Name] } = {};
  const foreign: Foreign[] = [];
  let timers = 0;
  const running = runOperator.bind(undefined, {
    ...{ ...operator, health: false, recording: tape },
    transport: { ...operator.transport, send: (...asked) => transport.send(...asked) },
    setup: (context) => counted.run({ ...context, world: systems }),
  });
  const signal = program.hasSignal ? new AbortController().signal : undefined;
  try {
    using _watch = watchForeign(tape, foreign);
    const fail = (cause: unknown): void => {
      run.failure = { cause };
    };
    const over = (): Promise<void> => clock.sleep(end - head.mono + AFTER);
    await clock.run(async () => {
      await Promise.race([running(signal).catch(fail), sent.tooMany, over()]);
      timers = clock.waiters();
    });
  } catch (error) {
    if (!isLivelockError(error)) throw error;
    run.loop = messageOf(error);
  }
  requireServed(transport.unserved);
  api.end();
  const writes = written.byText(served, api.labels, normalise);
  const { failure, loop = sent.loop } = run;
  const { pending } = counted;
  return { writes, orphans: api.orphans, loop, failure, pending, timers, foreign };
}

/** @throws TypeError for a path of a resource that the server does not have */
function requireServed(unserved: string | undefined): void {
  if (unserved !== undefined)
    throw new TypeError(
      `options.resources must have every resource that the operator uses, if the recording does not name it; it asked for ${unserved}`,
    );
}

/** A setup whose call and whose reconciles count until they end. */
class Counted<World> {
  /** Those that have not ended. */
  pending = 0;
  readonly #setup: Setup<World>;

  constructor(setup: Setup<World>) {
    this.#setup = setup;
  }

  run(context: ShadowContext<World>): Promise<StartWork> {
    const controller: OperatorContext["controller"] = (options) => {
      const reconcile = (request: never) => this.#count(() => options.reconcile(request));
      return context.controller({ ...options, reconcile } as typeof options);
    };
    return this.#count(() => this.#setup({ ...context, controller }));
  }

  async #count<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
    this.pending += 1;
    try {
      return await work();
    } finally {
      this.pending -= 1;
    }
  }
}

/** Counts the requests of a run, and ends it after too many. */
class Sends {
  /** Resolves after too many. */
  readonly tooMany: Promise<void>;
  readonly #most: number;
  readonly #counts = new Map<string, number>();
  #all = 0;
  #isOver = false;
  #end: () => void = () => {};

  constructor(most: number) {
    this.#most = most;
    this.tooMany = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The most frequent request, if there were too many. */
  get loop(): string | undefined {
    if (!this.#isOver) return undefined;
    const [first] = [...this.#counts].toSorted(([, one], [, other]) => other - one);
    return first && `${first[0]}, ${first[1]} times`;
  }

  /** @param beyond - the time since the last line of the recording, as a multiple of its length: as many more may come */
  count(text: string, beyond: number): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    this.#all += 1;
    if (this.#all <= this.#most * (1 + beyond)) return;
    this.#isOver = true;
    this.#end();
  }
}
