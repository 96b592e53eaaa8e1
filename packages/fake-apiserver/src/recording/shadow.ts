import { FakeClock, isLivelockError } from "@holdfast/clock/testing";
import { type Foreign, Recording, watchForeign } from "@holdfast/controller/recording";
import type { WorldContext } from "@holdfast/explore";
import { func, type Kinds, messageOf, read, required, show, whole } from "@holdfast/kit";
import {
  type OperatorContext,
  type Resource,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait";
import { resourceList } from "../server/kinds.ts";
import type { Normalise } from "../server/normal-form.ts";
import { Incident } from "./incident.ts";
import { operatorOf, type Program } from "./replay.ts";
import { RerunApi } from "./rerun-api.ts";
import { RerunTape } from "./rerun-tape.ts";
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
}

/** One run of an operator in the world of an incident. */
interface Run {
  readonly writes: ReadonlyMap<string, ShadowWrite>;
  readonly orphans: ReadonlyMap<string, number>;
  readonly loop: string | undefined;
  readonly failure: { readonly cause: unknown } | undefined;
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
 * `upgradeFrom` runs `timings` times, with other delays, to tell a change of the program from chance. `lost` and `news` are
 * empty for the same program.
 *
 * @param recording - of `openRecording` of `@holdfast/controller/recording`, with the first segment of its process
 * @param options - see {@link ShadowOptions}
 * @returns a report. Rejects with an Error for a recording that is damaged, has a gap or lacks its first segment, for an
 * `upgradeFrom` that loops, and if `setup` fails where `upgradeFrom` does not; with a RangeError or TypeError for a bad
 * argument, and for a resource that neither `resources` nor the recording has
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
  const olds: Run[] = [];
  for (let timing = 0; timing < timings; timing++)
    olds.push(await runIn(incident, recording, upgradeFrom, given, timing));
  const [first] = olds as [Run];
  const looped = olds.find(({ loop }) => loop !== undefined)?.loop;
  if (looped !== undefined)
    throw new Error(`shadow: upgradeFrom must be the recorded operator; it loops: ${looped}`);
  if (first.failure !== undefined && !incident.fails)
    throw new Error("shadow: upgradeFrom must be the recorded operator; it fails", first.failure);
  const run = await runIn(incident, recording, setup, given, 0);
  if (run.failure !== undefined && first.failure === undefined)
    throw new Error("shadow: setup fails where upgradeFrom does not", run.failure);
  const report = compare(run, olds);
  const { news, lost, orphans } = report;
  if (news.length + lost.length + orphans.length === 0) return report;
  for (const [own, one] of [
    [upgradeFrom, first],
    [setup, run],
  ] as const) {
    const { foreign } = one;
    if (foreign.length === 0) continue;
    const again = compare(await runIn(incident, recording, own, given, 0), [one]);
    const isHarmless =
      foreign.every(({ name }) => OF_VALUES.test(name)) &&
      again.news.length + again.lost.length === 0;
    const [used] = foreign;
    if (!isHarmless)
      throw new Error(
        `shadow: no verdict: the operator used ${used?.name}, which no recording has; use clock, random or link of its context\n${used?.stack}`,
      );
  }
  return report;
}

/** Functions that return another value in each run, and take no time. They do no harm if two runs write the same. */
const OF_VALUES = /^(Math|performance|crypto|Date|new Date)\b/;

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
  return { news: values(news), lost: loop === undefined ? values(lost) : [], orphans, loop };
}

/** @param timing - 0 for the delays of the recording, others for drawn ones */
async function runIn<World>(
  incident: Incident,
  recording: Recording,
  setup: ShadowOptions<World>["setup"],
  { world, normalise = (object) => object }: ShadowOptions<World>,
  timing: number,
): Promise<Run> {
  const { head, end, served } = incident;
  const clock = new FakeClock({ now: incident.wallOf(head.mono) });
  const api = new RerunApi(incident, clock);
  const written = new Written(incident.wallOf(head.mono));
  const random = seededRandom(timing);
  const lateBy = (duration: number): number => (timing === 0 ? 0 : random() * (2 * duration + 5));
  const sent = new Sends(3 * incident.exchanges.length + 1_000);
  const common = { incident, clock, lateBy };
  const since = (): number => api.time - head.mono;
  const tape = new RerunTape({
    ...common,
    hasWorld: world !== undefined,
    onCall: (text) => {
      sent.count(text);
      written.add({ at: since(), status: 200, request: text });
    },
  });
  const transport = new RerunTransport(recording.head.name, {
    ...common,
    api,
    onAnswer: (request, status) => {
      sent.count(`${request.method} ${request.path.split("?")[0]}`);
      written.add({ at: since(), status, request });
    },
  });
  const systems = world?.({ clock: tape.clock, random: seededRandom(head.seed) }) as World;
  const program = head.program as Program;
  const operator = operatorOf(recording, program, undefined);
  const signal = program.hasSignal ? new AbortController().signal : undefined;
  let failure: Run["failure"];
  let loop: string | undefined;
  const running = async (): Promise<void> => {
    const own = { ...transport, ...operator.transport, send: transport.send.bind(transport) };
    const options = { ...operator, transport: own, health: false, recording: tape } as const;
    await runOperator(
      { ...options, setup: (context) => setup({ ...context, world: systems }) },
      signal,
    ).catch((cause: unknown) => {
      failure = { cause };
    });
  };
  const foreign: Foreign[] = [];
  try {
    using _watch = watchForeign(() => tape.isInside, foreign);
    await clock.run(() =>
      Promise.race([running(), sent.tooMany, clock.sleep(end - head.mono + AFTER)]),
    );
  } catch (error) {
    if (!isLivelockError(error)) throw error;
    loop = messageOf(error);
  }
  if (transport.unserved !== undefined)
    throw new TypeError(
      `options.resources must have every resource that the operator uses, if the recording does not name it; it asked for ${transport.unserved}`,
    );
  api.end();
  const writes = written.byText(served, api.labels, normalise);
  return { writes, orphans: api.orphans, loop: loop ?? sent.loop, failure, foreign };
}

/** Counts the requests of a run, and ends it after too many. */
class Sends {
  /** Resolves after too many. */
  readonly tooMany: Promise<void>;
  readonly #most: number;
  readonly #counts = new Map<string, number>();
  #all = 0;
  #end: () => void = () => {};

  constructor(most: number) {
    this.#most = most;
    this.tooMany = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The most frequent request, if there were too many. */
  get loop(): string | undefined {
    if (this.#all <= this.#most) return undefined;
    const [first] = [...this.#counts].toSorted(([, one], [, other]) => other - one);
    return first && `${first[0]}, ${first[1]} times`;
  }

  count(text: string): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    this.#all += 1;
    if (this.#all > this.#most) this.#end();
  }
}
