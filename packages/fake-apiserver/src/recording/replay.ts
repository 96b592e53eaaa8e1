import { silentLogger } from "@holdfast/controller";
import {
  type Foreign,
  foreignText,
  type Line,
  Player,
  Recording,
  type Replayed,
} from "@holdfast/controller/recording";
import { func, type Kinds, kind, notNegative, read, required, show } from "@holdfast/kit";
import { versionOf } from "@holdfast/kit/node";
import { type OperatorOptions, type OperatorSetup, runOperator } from "@holdfast/kubernetes";

/** The package whose version decides what an operator does. */
const KUBERNETES = "@holdfast/kubernetes";

export const REPLAY_OPTIONS: Kinds<ReplayOptions> = {
  setup: required(func),
  patience: notNegative,
  backoff: kind("backoff", () => {}),
};

/** Options for {@link replay}. */
export interface ReplayOptions {
  /** The operator: the option `setup` of `runOperator`. */
  readonly setup: OperatorSetup;

  /**
   * Real milliseconds to wait for a request of a reconcile that waits for a thread, such as one that reads a file.
   *
   * @defaultValue `0`
   */
  readonly patience?: number | undefined;

  /**
   * The option `cluster.backoff` of the recorded operator, if it had one: a recording cannot have it.
   *
   * @defaultValue that of `Cluster`
   */
  readonly backoff?: NonNullable<OperatorOptions["cluster"]>["backoff"];
}

/** The first request that differs from the recording. */
export interface RequestDivergence {
  /** The request of the operator, or its call of a linked system. Undefined if it did not make the recorded one. */
  readonly request: Line | undefined;

  /** The recorded one. Undefined if there is none. */
  readonly recorded: Line | undefined;

  /** Where the two differ, as in `body.spec.replicas`. Empty if one of them is missing. */
  readonly path: string;

  /** The last inputs before, at most 20. */
  readonly inputs: readonly Line[];

  /** The divergence in words. */
  readonly text: string;
}

/** A replay that ended. */
export interface ReplayReport {
  /** Undefined if the operator did the same again. */
  readonly divergence: RequestDivergence | undefined;

  /** Requests, and calls of linked systems, that were equal. */
  readonly requests: number;

  /** Inputs that the operator got: heads and bodies of responses, timers, answers, signals. */
  readonly inputs: number;

  /** Time, chance and I/O that the operator used, and that no recording has: each with its stack. */
  readonly foreign: readonly Foreign[];

  /** Labels of the timers that are left, if the recording has the stop of the operator. */
  readonly timers: readonly string[];
}

/** The operator of a recording, as `runOperator` notes it. */
export interface Program {
  readonly description: string;
  readonly namespace?: string;
  readonly leaderElection: OperatorOptions["leaderElection"];
  readonly shards?: OperatorOptions["shards"];
  readonly compareCrds: boolean;
  readonly cluster: NonNullable<OperatorOptions["cluster"]>;
  readonly hasBackoff: boolean;
  readonly hasHealth: boolean;
  readonly hasSignals: boolean;
  readonly hasSignal: boolean;
}

/**
 * Runs an operator on a recording of `runOperator`: it gets the same inputs at the same times, and its requests are
 * compared with the recorded ones. It ends at the first request that differs. No connection is opened, no real time passes.
 *
 * Time, chance and I/O must pass the operator's context: `clock`, `random`, `client` and `link`. If the operator used others
 * before a request that differs, there is no verdict: the replay rejects and names them.
 *
 * | Ends with | Means |
 * | --- | --- |
 * | no `divergence` | the operator made the recorded requests, in the same turns |
 * | a `divergence` | the operator makes another request, or not the recorded one, or only one of both ends with an error |
 * | an Error that names a function | the operator used time, chance or I/O that no recording has, and then differed |
 * | an Error about a gap | the disk was full or slow, or a file is cut or missing: what follows is not known |
 *
 * @param recording - of `openRecording` of `@holdfast/controller/recording`, with the first segment of its process
 * @param options - see {@link ReplayOptions}
 * @returns a report. Rejects with an Error as above, or for damage, with file and line; with a RangeError or TypeError for
 * a bad argument
 *
 * @example
 * ```ts no-run
 * import { openRecording } from "@holdfast/controller/recording";
 * import { replay } from "@holdfast/fake-apiserver";
 * import type { OperatorSetup } from "@holdfast/kubernetes";
 *
 * declare const setup: OperatorSetup;
 * const { divergence, requests } = await replay(await openRecording("flight/"), { setup });
 * console.log(divergence?.text ?? `${requests} requests, all equal`);
 * ```
 */
export async function replay(recording: Recording, options: ReplayOptions): Promise<ReplayReport> {
  if (!(recording instanceof Recording))
    throw new TypeError(`recording must be a Recording of openRecording, got ${show(recording)}`);
  const { setup, patience = 0, backoff } = read("options", options, "replay", REPLAY_OPTIONS);
  const program = recording.head.program as Program;
  if (program.hasBackoff && backoff === undefined)
    throw new RangeError(
      "options.backoff must be the cluster.backoff of the recorded operator: a recording cannot have it",
    );
  recording.compare({ [KUBERNETES]: versionOf(KUBERNETES, import.meta.url) });
  const player = new Player(recording, { patience });
  const operator = operatorOf(recording, program, backoff);
  const signal = program.hasSignal ? new AbortController().signal : undefined;
  await runOperator({ ...operator, setup, recording: player }, signal);
  return reportOf(player.replayed);
}

/** The options of the recorded operator. Its health server, its signals and its transport are answers of the recording. */
export function operatorOf(
  { head: { name, identity } }: Recording,
  program: Program,
  backoff: ReplayOptions["backoff"],
): Omit<OperatorOptions, "setup"> {
  const { description, namespace, leaderElection, shards, compareCrds, cluster } = program;
  const transport = {
    description,
    send: () => Promise.reject(new Error("a replay opens no connection")),
    ...(namespace !== undefined && { namespace }),
  };
  return {
    ...{ name, identity, transport, shards, compareCrds, logger: silentLogger },
    leaderElection: shards === undefined ? leaderElection : undefined,
    cluster: { ...cluster, ...(backoff && { backoff }) },
    health: program.hasHealth ? {} : false,
    signals: program.hasSignals ? NO_SIGNALS : undefined,
  };
}

const nothing = (): void => {};
const NO_SIGNALS = { on: nothing, off: nothing, exit: nothing };

/** @throws Error if the operator used something that no recording has, and then differed */
function reportOf({ divergence, calls, inputs, foreign, timers }: Replayed): ReplayReport {
  const rest = { requests: calls, inputs, foreign, timers };
  if (divergence === undefined) return { divergence, ...rest };
  if (foreign.length > 0)
    throw new Error(`replay: no verdict: the operator used ${foreignText(foreign)}`);
  const { call: request, recorded, path, overdue } = divergence;
  const text = [
    recorded?.k === "end"
      ? `the operator ${endOf(request)}, and in the recording it ${endOf(recorded)}`
      : request === undefined
        ? `the operator did not make the recorded ${nameOf(recorded)}`
        : recorded === undefined
          ? `the operator made ${nameOf(request)}, and the recording has no request there`
          : `the operator made ${nameOf(request)}, and the recording has ${nameOf(recorded)}; they differ in ${path}`,
    ...overdue.map((timer) => `timer ${timer} was due, and did not fire in the recording`),
    "the inputs before, the latest last:",
    ...divergence.inputs.map(describe),
  ].join("\n");
  return { divergence: { request, recorded, path, inputs: divergence.inputs, text }, ...rest };
}

function nameOf(line: Line | undefined): string {
  if (line === undefined) return "call";
  return line.k === "q" ? `${line["m"]} ${line["u"]}` : `call ${line["c"]}`;
}

function endOf(line: Line | undefined): string {
  if (line === undefined) return "goes on";
  const error = (line["e"] as { readonly v?: { readonly message?: string } } | undefined)?.v;
  return error === undefined ? "ends" : `fails: ${error.message}`;
}

/** Longest text of an input. */
const MOST = 120;

function describe({ k, n, t, ...rest }: Line): string {
  const text = Object.values(rest).map((part) =>
    typeof part === "string" ? part : JSON.stringify(part),
  );
  return `  ${t} ms ${k}${n === undefined ? "" : ` of call ${n}`} ${text.join(" ")}`.slice(0, MOST);
}
