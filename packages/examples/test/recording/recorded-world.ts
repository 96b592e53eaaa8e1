import type { Clock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Recording } from "@holdfast/controller/recording";
import { FakeApi, type Fault } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type KubeTransport,
  type OperatorOptions,
  type Resource,
  runOperator,
} from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";

const Event = builtIn("events.k8s.io/v1", "Event");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");

/** Faults of requests of an operator, and of its watches. */
const FAULTS: readonly Fault[] = [
  { type: "drop" },
  { type: "reject" },
  { type: "status", status: 503, retryAfter: 1 },
  { type: "status", status: 500 },
  { type: "status", status: 409, reason: "Conflict" },
  { type: "delay", delay: 300 },
  { type: "text", text: "<html>bad gateway</html>", status: 502 },
  { type: "reset", after: { lines: 2 } },
  { type: "close", after: { bytes: 100 } },
];

/** An operator under faults on a fake API server, recorded. */
export class RecordedWorld {
  readonly api: FakeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly #directory: string;

  /** @param faultRate - the part of the operator's requests that meet a fault */
  constructor(clock: Clock, resources: readonly Resource[], options: RecordedWorldOptions) {
    const { directory, seed, faultRate = 0 } = options;
    this.clock = clock;
    this.random = seededRandom(seed);
    this.#directory = directory;
    this.api = new FakeApi({ clock, resources: [...resources, Event, Lease] });
    for (const fault of FAULTS)
      this.api.intercept({
        fault,
        when: ({ headers }) => "x-operator" in headers && this.random() < faultRate / FAULTS.length,
      });
  }

  /** Runs an operator while `play` plays. Resolves with its recording. */
  async record(
    options: Pick<OperatorOptions, "name" | "setup"> & Partial<OperatorOptions>,
    play: () => Promise<void>,
    transport: KubeTransport = this.api.transport,
  ): Promise<Recording> {
    const stop = new AbortController();
    const directory = this.#directory;
    const running = runOperator(
      {
        ...{ clock: this.clock, random: this.random, logger: silentLogger, health: false },
        leaderElection: { namespace: "operators" },
        transport: marked(transport),
        recording: { directory },
        ...options,
      },
      stop.signal,
    );
    await play();
    stop.abort();
    await running;
    return await openRecording(directory);
  }
}

interface RecordedWorldOptions {
  readonly directory: string;
  readonly seed: number;
  readonly faultRate?: number;
}

/** A transport whose requests meet the faults. */
function marked(transport: KubeTransport): KubeTransport {
  return {
    description: transport.description,
    send: (request, signal) =>
      transport.send({ ...request, headers: { ...request.headers, "x-operator": "1" } }, signal),
    closeIdle: async () => await transport.closeIdle?.(),
  };
}

/** What a ring has that lost its first segments, for each begin from which something is known. */
export function ringsOf({ files }: Recording): Recording[] {
  const rings = files.slice(1).map((_, lost) => new Recording(files.slice(lost + 1)));
  return rings.filter((ring) => ring.known() !== undefined);
}
