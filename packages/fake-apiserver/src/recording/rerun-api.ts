import type { Timer } from "@holdfast/clock";
import type { FakeClock } from "@holdfast/clock/testing";
import type { KubeRequest, KubeResponse } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { isOrphan, placesOf } from "../explore/garbage-collector.ts";
import {
  isEqual,
  isObject,
  type JsonObject,
  metadataOf,
  parseJson,
  without,
} from "../object/json.ts";
import { FakeApi } from "../server/fake-api.ts";
import { rewritten } from "../server/normal-form.ts";
import { keyOfCall } from "../server/request/api-call.ts";
import { readRequest } from "../server/request/read-request.ts";
import { withVersion } from "../server/write/objects.ts";
import {
  type Exchange,
  isWrite,
  nameOf,
  type Place,
  statusOf,
  type Version,
  withoutTimes,
} from "./exchange.ts";
import type { Incident } from "./incident.ts";
import { rebased } from "./three-way.ts";

/** Versions of the server for each recorded one: other writes come in between. */
const SCALE = 1_000;

/** Milliseconds for which a change of others waits for the write of the program before it. */
const GRACE = 1_000;

/** How far an object has come. */
interface Track {
  readonly place: Place;
  /** The index of its next version. */
  next: number;
  wait: Timer | undefined;
  /** Whether the program has written something else. */
  isOff: boolean;
}

/** The server of an incident: others do their recorded writes again, whatever the program does. */
export class RerunApi extends FakeApi {
  /** The instants at which watches showed versions, by the version of this server. */
  readonly watchedAt: Map<string, number> = new Map();
  /** Changes of others that met another object than the recorded one, by their text. */
  readonly orphans: Map<string, number> = new Map();
  /** What an object is called, by its uid. */
  readonly labels: Map<string, string> = new Map();
  readonly #incident: Incident;
  readonly #clock: FakeClock;
  readonly #tracks = new Map<Place, Track>();
  readonly #kinds: ReadonlySet<string>;
  /** The time of the recording minus that of the clock. */
  readonly #offset: number;
  /** The latest instant that was waited for. A sum of rounded durations may lie just before it. */
  #reached = Number.NEGATIVE_INFINITY;

  constructor(incident: Incident, clock: FakeClock) {
    const { resources, head, history, served } = incident;
    super({ clock, resources, random: seededRandom(head.seed) });
    this.#incident = incident;
    this.#clock = clock;
    this.#offset = head.mono - clock.monotonic();
    this.#kinds = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
    this.#begin();
    for (const { storeKey: store } of served)
      this.state.subscribe(store, ({ key, object }) => this.#label({ store, key }, object));
    for (const place of history.places) {
      const track = { place, next: place.isOld ? 1 : 0, wait: undefined, isOff: false };
      this.#tracks.set(place, track);
      for (const { object } of place.versions) this.#label(place, object);
      for (const { by, at } of place.versions.slice(track.next))
        if (by === undefined) this.at(at, () => this.#advance(track));
    }
  }

  /** The objects that were there before the program. */
  #begin(): void {
    const { history, version } = this.#incident;
    const stores = new Map<string, Map<string, JsonObject>>();
    for (const { store, key, versions, isOld } of history.places) {
      const [first] = versions;
      if (!isOld || first?.object === undefined) continue;
      const object = withVersion(first.object, `${scaled(Math.min(first.number, version))}`);
      stores.set(store, (stores.get(store) ?? new Map()).set(key, object));
    }
    this.state.restore({ version: scaled(version), stores });
  }

  /** The time of the recording. */
  get time(): number {
    return Math.max(this.#reached, this.#clock.monotonic() + this.#offset);
  }

  /** Calls back at an instant of the recording. */
  at(instant: number, callback: () => void): Timer {
    return this.#clock.afterFunc(Math.max(0, instant - this.time), () => {
      this.#reach(instant);
      callback();
    });
  }

  /** Waits for an instant of the recording. */
  async until(instant: number, signal: AbortSignal): Promise<void> {
    const delay = Math.max(0, instant - this.time);
    await this.#clock.sleep(delay, { signal, label: "answer of a rerun" });
    this.#reach(instant);
  }

  #reach(instant: number): void {
    this.#reached = Math.max(this.#reached, instant);
  }

  /** Whether the program cannot repeat a recorded write any more: others have gone on. */
  hasPassed({ place, version }: Exchange): boolean {
    const track = place && this.#tracks.get(place);
    return !track || !version || track.next > place.versions.indexOf(version);
  }

  /**
   * Carries out a request. A recorded write on an object that is as recorded gets the recorded answer.
   *
   * @param recorded - an equal one
   */
  async carryOut(
    request: KubeRequest,
    recorded: Exchange | undefined,
    signal: AbortSignal,
  ): Promise<KubeResponse> {
    const answer = recorded?.place && this.#repeat(recorded, recorded.place);
    const response = answer ?? (await this.transport.send(request, signal));
    const track = this.#trackOf(request);
    if (track === undefined) return response;
    const isOther = answer === undefined && isWrite(request) && response.status < 300;
    track.isOff ||= isOther;
    this.#advance(track);
    return response;
  }

  #trackOf(request: KubeRequest): Track | undefined {
    const { history, served } = this.#incident;
    const { call } = readRequest(request, served);
    if (call === undefined) return undefined;
    return this.#tracks.get(history.place(call.served.storeKey, keyOfCall(call, nameOf(call))));
  }

  /** Notes the objects whose owners are gone: a cluster collects them. */
  end(): void {
    const { stores } = this.state.snapshot();
    const owners = placesOf(stores);
    for (const [store, objects] of stores)
      for (const [key, object] of objects)
        if (isOrphan(object, owners, this.#kinds))
          this.orphans.set(`${nameIn(store)} ${key}: its owners are gone`, this.time);
    for (const { place, next } of this.#tracks.values())
      for (const version of place.versions.slice(next))
        if (version.by === undefined && version.at <= this.time) this.#orphan(place, version);
  }

  #repeat(exchange: Exchange, place: Place): KubeResponse | undefined {
    const track = this.#tracks.get(place) as Track;
    const { version, end = 0 } = exchange;
    const { versions, store, key } = place;
    const position = version
      ? versions.indexOf(version)
      : versions.filter(({ at }) => at <= end).length;
    const between = versions.slice(track.next, position);
    if (track.next > position || between.some(({ by }) => by === undefined)) return undefined;
    if (!this.#isSame(this.#current(place), versions[position - 1]?.object)) return undefined;
    track.next = position;
    if (version !== undefined) this.#put(track, version);
    return answerOf(exchange, this.state.store(store).get(key));
  }

  #current({ store, key }: Place): JsonObject | undefined {
    return this.state.store(store).get(key);
  }

  /** Does the writes of others that are due. */
  #advance(track: Track): void {
    const { versions } = track.place;
    track.wait?.stop();
    for (;;) {
      const left = versions.slice(track.next);
      const [version] = left;
      const due = left.find(({ by, at }) => by === undefined && at <= this.time);
      if (version === undefined || due === undefined) return;
      if (version.by === undefined) this.#change(track, version);
      else if (this.#waits(track, version, due)) return;
      else track.next += 1;
    }
  }

  /** Whether a change of others waits for the write of the program before it. */
  #waits(track: Track, own: Version, due: Version): boolean {
    const isNew = own.object !== undefined && beforeOf(track)?.object === undefined;
    if (isNew && this.#current(track.place) === undefined) return true; // others need it
    const end = due.at + GRACE;
    if (track.isOff || end <= this.time) return false;
    track.wait = this.at(end, () => this.#advance(track));
    return true;
  }

  /** Others change an object. */
  #change(track: Track, version: Version): void {
    const current = this.#current(track.place);
    const before = beforeOf(track)?.object;
    const isRecorded = this.#isSame(current, before);
    const isLike = isRecorded || this.#isSame(current, before, ["uid", "generation"]);
    if (!isLike || this.#isKept(version, current)) this.#orphan(track.place, version);
    if (isRecorded) this.#put(track, version);
    else {
      track.next += 1;
      this.#merge(track.place, version.object, before);
    }
  }

  /** A change of others on an object that is not as it was `before`. */
  #merge(place: Place, after: JsonObject | undefined, before: JsonObject | undefined): void {
    const current = this.#current(place);
    const { store, key } = place;
    if (before === undefined || current === undefined) {
      if (before === current && after !== undefined)
        this.state.write(store, key, (version) => withVersion(after, version));
      return;
    }
    const next = after && rebased(before, after, current);
    this.state.write(store, key, next && ((version) => withVersion(next, version)));
  }

  /** An object becomes the recorded one. */
  #put(track: Track, { object, number, watched }: Version): void {
    const { store, key } = track.place;
    track.next += 1;
    track.isOff = false;
    if (object === undefined && this.#current(track.place) === undefined) return;
    const make = object && ((version: string) => withVersion(object, version));
    this.state.write(store, key, make, scaled(number));
    if (watched !== undefined) this.watchedAt.set(`${this.state.version}`, watched);
  }

  /** Whether others delete an object whose owner is there. */
  #isKept({ object }: Version, current: JsonObject | undefined): boolean {
    if (object !== undefined || current === undefined) return false;
    if (!("ownerReferences" in metadataOf(current))) return false;
    return !isOrphan(current, placesOf(this.state.snapshot().stores), this.#kinds);
  }

  #orphan({ store, key, versions }: Place, version: Version): void {
    const before = versions[versions.indexOf(version) - 1]?.object;
    const change =
      version.object === undefined ? "deleted" : before === undefined ? "created" : "changed";
    const text = `${nameIn(store)} ${key}: others ${change} it, version ${version.number}`;
    this.orphans.set(text, this.time);
  }

  /** Whether an object is as recorded, but for times. */
  #isSame(
    current: JsonObject | undefined,
    recorded: JsonObject | undefined,
    aside: readonly string[] = [],
  ): boolean {
    const { head } = this.#incident;
    const rename = withoutTimes(this.#incident.wallOf(head.mono));
    const plain = (object: JsonObject): unknown => {
      const metadata = without(metadataOf(object), "resourceVersion", "managedFields", ...aside);
      return rewritten({ ...object, metadata }, (text) =>
        rename(aside.length > 0 ? (this.labels.get(text) ?? text) : text),
      );
    };
    if (current === undefined || recorded === undefined) return current === recorded;
    return isEqual(current, recorded) || isEqual(plain(current), plain(recorded));
  }

  #label({ store, key }: Pick<Place, "store" | "key">, object: JsonObject | undefined): void {
    const uid = object && metadataOf(object)["uid"];
    if (typeof uid === "string") this.labels.set(uid, `<uid of ${nameIn(store)} ${key}>`);
  }
}

function beforeOf({ place, next }: Track): Version | undefined {
  return place.versions[next - 1];
}

function scaled(number: number): number {
  return Math.floor(number * SCALE);
}

/** The recorded answer, with the version that the object has here. */
function answerOf(exchange: Exchange, object: JsonObject | undefined): KubeResponse {
  const answer = parseJson(exchange.text);
  const version = object && metadataOf(object)["resourceVersion"];
  const isObjects = isObject(answer) && answer["kind"] !== "Status" && version !== undefined;
  const text = isObjects ? JSON.stringify(withVersion(answer, version)) : exchange.text;
  return responseOf({ ...exchange, text });
}

/** The recorded response. */
export function responseOf(exchange: Exchange): KubeResponse {
  const headers = (exchange.head?.headers ?? {}) as KubeResponse["headers"];
  return { status: statusOf(exchange), headers, body: once(exchange.text) };
}

/** The plural of a store with its group, as in `deployments.apps`. */
export function nameIn(store: string): string {
  const [group = "", plural = ""] = store.split("/");
  return group === "" ? plural : `${plural}.${group}`;
}

/** A body that is a text. */
export async function* once(text: string): AsyncGenerator<Uint8Array, undefined> {
  if (text !== "") yield Buffer.from(text);
}
