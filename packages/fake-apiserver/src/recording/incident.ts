import type { Foreign, Head, Line, Recording } from "@holdfast/controller/recording";
import { builtIn, type KubeObject, type KubeRequest, type Resource } from "@holdfast/kubernetes";
import { keyOfCall } from "../server/request/api-call.ts";
import { readRequest } from "../server/request/read-request.ts";
import { type ServedResource, servedResources } from "../server/resource/served-resource.ts";
import { type Exchange, isWrite, nameOf, statusOf } from "./exchange.ts";
import { History } from "./history.ts";
import { resourcesIn } from "./recorded-resources.ts";
import { Sights } from "./sights.ts";

/** Resources that every operator may use. */
const BESIDE = [
  builtIn<KubeObject>("coordination.k8s.io/v1", "Lease"),
  builtIn<KubeObject>("events.k8s.io/v1", "Event"),
];

/** A recorded call that is no request: its inputs by their instants. */
export interface RecordedCall {
  readonly at: number;
  readonly inputs: { readonly at: number; readonly line: Line }[];
}

/** Lines of a request, as they came. */
interface Raw {
  readonly ask: Line;
  readonly at: number;
  readonly inputs: { readonly at: number; readonly line: Line }[];
}

/** An input of a request. */
interface Input {
  readonly raw: Raw;
  readonly at: number;
  readonly line: Line;
}

/** What a recording tells of a cluster: requests with their answers, and objects with their versions. */
export class Incident {
  readonly head: Head;
  readonly resources: readonly Resource[];
  readonly served: readonly ServedResource[];
  readonly history: History = new History();
  /** In the order of the requests. */
  readonly exchanges: readonly Exchange[];
  /** Calls of linked systems, and waits for signals, by their text. */
  readonly calls: ReadonlyMap<string, readonly RecordedCall[]>;
  /** Methods of linked systems that make objects. */
  readonly makers: ReadonlySet<string>;
  /** Causes of calls of the recorded program that are no inputs. */
  readonly foreign: readonly Foreign[];
  /** The version of the server when the program began. */
  readonly version: number;
  /** The instant of the last line. */
  readonly end: number;
  /** Whether the program ended with an error. */
  readonly fails: boolean;

  /** @throws Error for a recording with neither its first segment nor a snapshot, and for a gap */
  constructor(recording: Recording, resources: readonly Resource[]) {
    const reading = new Reading(recording);
    const { head, requests, calls, makers, foreign, now, fails } = reading;
    this.head = head;
    this.calls = calls;
    this.makers = makers;
    this.foreign = foreign;
    this.end = now;
    this.fails = fails;
    this.resources = withRecorded(resources, requests);
    this.served = servedResources(this.resources);
    const exchanges = new Map(requests.map((raw) => [raw, this.#exchangeOf(raw)]));
    const sent = requests.filter(({ ask: { n = 0 } }) => n >= 0); // those of a snapshot tell its objects
    this.exchanges = sent.map((raw) => exchanges.get(raw) as Exchange);
    const sights = new Sights(this.history);
    const take = ({ raw, at, line }: Input): void =>
      sights.take(exchanges.get(raw) as Exchange, line, at);
    for (const input of reading.known) take(input);
    this.history.begin();
    for (const input of reading.inputs) take(input);
    this.version = Number.isFinite(sights.first) ? sights.first : 1;
    const lost = this.exchanges.filter((one) => one.place && (one.isCut || statusOf(one) >= 500));
    this.history.attribute(lost, ({ call }) => call?.query.get("fieldManager") ?? head.name);
    this.history.close(this.wallOf(head.mono), (instant) => this.wallOf(instant));
  }

  /** An instant of the recording in milliseconds since the epoch. */
  wallOf(instant: number): number {
    return this.head.wall + instant;
  }

  #exchangeOf({ ask, at }: Raw): Exchange {
    const request = requestOf(ask);
    const { call } = readRequest(request, this.served);
    const exchange: Exchange = { request, call, at, text: "" };
    if (call !== undefined && isWrite(request) && call.verb !== "deletecollection")
      exchange.place = this.history.place(call.served.storeKey, keyOfCall(call, nameOf(call)));
    return exchange;
  }
}

/** Reads the lines of a recording once. */
class Reading {
  readonly requests: Raw[] = [];
  /** The inputs of the requests, in their order. */
  readonly inputs: Input[] = [];
  /** Those of a snapshot. */
  known: readonly Input[] = [];
  readonly calls = new Map<string, RecordedCall[]>();
  readonly makers = new Set<string>();
  readonly foreign: Foreign[] = [];
  fails = false;
  now: number;
  /** Its time is that of the snapshot, if there is one. */
  head: Head;
  readonly #open = new Map<unknown, Raw>();

  constructor(recording: Recording) {
    const { head, files } = recording;
    this.head = head;
    this.now = head.mono;
    const lines = recording.known();
    if (lines === undefined)
      throw new Error(
        `shadow: the first segment of the process must be there, or a snapshot; got segment ${head.segment}, and no snapshot in ${files.length} files from ${files[0]}: raise maxBytes, so that the ring keeps more`,
      );
    for (const line of lines) {
      if (line.k === "gap")
        throw new Error(
          `shadow: the recording has a gap in ${recording.files[0]} and its next segments: what others did meanwhile is not known`,
        );
      if (typeof line.t === "number") this.now = line.t;
      if (line.k !== "o") this.#take(line);
      else {
        this.head = { ...head, mono: this.now, wall: Number(line["w"] ?? head.wall) };
        this.known = this.inputs.splice(0);
      }
    }
  }

  #take(line: Line): void {
    const at = this.now;
    if (line.k === "m") this.makers.add(`${line["c"]}`);
    else if (line.k === "f") this.foreign.push({ name: `${line["c"]}`, stack: `${line["s"]}` });
    else if (line.k === "end") this.fails = "e" in line;
    else if (line.k === "q" || line.k === "l") this.#begin({ ask: line, at, inputs: [] });
    else if (line.k !== "R") {
      const raw = this.#open.get(line.n);
      raw?.inputs.push({ at, line });
      if (raw?.ask.k === "q") this.inputs.push({ raw, at, line });
    }
  }

  #begin(raw: Raw): void {
    this.#open.set(raw.ask.n, raw);
    const text = `${raw.ask["c"]}`;
    if (raw.ask.k === "q") this.requests.push(raw);
    else this.calls.set(text, [...(this.calls.get(text) ?? []), raw]);
  }
}

function requestOf(ask: Line): KubeRequest {
  const { m, u, h, a, body } = ask as unknown as Record<string, string | undefined>;
  const headers = {
    ...(h !== undefined && { "content-type": h }),
    ...(a !== undefined && { accept: a }),
  };
  return { method: m as string, path: u as string, headers, body };
}

function textsOf({ inputs }: Raw): string[] {
  return inputs.flatMap(({ line: { body } }) => (typeof body === "string" ? body.split("\n") : []));
}

/** The resources that are given, those that the recording names, and those that every operator may use. */
function withRecorded(given: readonly Resource[], requests: readonly Raw[]): Resource[] {
  const texts = requests.map((raw) => [requestOf(raw.ask), textsOf(raw)] as const);
  const idOf = ({ apiVersion, plural }: Resource): string => `${apiVersion} ${plural}`;
  const all = [...BESIDE, ...resourcesIn(texts), ...given];
  return [...new Map(all.map((one) => [idOf(one), one])).values()];
}
