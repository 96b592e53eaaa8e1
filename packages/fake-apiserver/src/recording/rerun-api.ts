import type { Timer } from "@holdfast/clock";
import type { FakeClock } from "@holdfast/clock/testing";
import type { KubeRequest, KubeResponse } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait";
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
import { type Exchange, isWrite, nameOf, withoutTimes } from "./exchange.ts";
import type { Place, Version } from "./history.ts";
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
  readonly labels: Map<string, string>;
  readonly #incident: Incident;
  readonly #clock: FakeClock;
  readonly #tracks = new Map<Place, Track>();
  readonly #kinds: ReadonlySet<string>;

  constructor(incident: Incident, clock: FakeClock) {
    const { resources, head, history, served } = incident;
    super({ clock, resources, random: seededRandom(head.seed) });
    this.#incident = incident;
    this.#clock = clock;
    this.#kinds = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
    this.labels = new Map();
    const stores = new Map<string, Map<string, JsonObject>>();
    for (const place of history.places) {
      this.#tracks.set(place, { place, next: place.isOld ? 1 : 0, wait: undefined, isOff: false });
      for (const { object } of place.versions) this.#label(place, object);
      const object = place.isOld ? place.versions[0]?.object : undefined;
      if (object === undefined) continue;
      const number = Math.min(place.versions[0]?.number ?? 0, incident.version);
      const objects = stores.get(place.store) ?? new Map<string, JsonObject>();
      stores.set(place.store, objects.set(place.key, withVersion(object, scaled(number))));
    }
    this.state.restore({ version: Number(scaled(incident.version)), stores });
    for (const { storeKey: store } of served)
      this.state.subscribe(store, ({ key, object }) => this.#label({ store, key }, object));
    for (const place of history.places)
      for (const version of place.versions.slice(place.isOld ? 1 : 0))
        if (version.by === undefined) this.#schedule(place, version);
  }

  /** The time of the recording. */
  get time(): number {
    return this.#clock.now() - this.#incident.head.wall;
  }

  /** Calls back at an instant of the recording. */
  at(instant: number, callback: () => void): Timer {
    return this.#clock.afterFunc(Math.max(0, instant - this.time), callback);
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
    const { call } = readRequest(request, this.#incident.served);
    const place =
      call && this.#incident.history.place(call.served.storeKey, keyOfCall(call, nameOf(call)));
    const track = place && this.#tracks.get(place);
    if (track !== undefined) {
      if (isWrite(request) && answer === undefined && response.status < 300) track.isOff = true;
      this.#advance(track);
    }
    return response;
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
    const { version, head, end = 0, text } = exchange;
    const { versions } = place;
    const current = this.state.store(place.store).get(place.key);
    const position = version
      ? versions.indexOf(version)
      : versions.filter(({ at }) => at <= end).length;
    const between = versions.slice(track.next, position);
    if (track.next > position || !between.every(({ by }) => by !== undefined)) return undefined;
    if (!this.#isSame(current, versions[position - 1]?.object)) return undefined;
    track.next = position;
    if (version !== undefined) this.#put(track, version);
    const answer = parseJson(text);
    const number = metadataOf(this.state.store(place.store).get(place.key) ?? {})[
      "resourceVersion"
    ];
    const isObjects = isObject(answer) && answer["kind"] !== "Status" && number !== undefined;
    const { status = 500, headers } = head ?? {};
    return {
      status,
      headers: (headers ?? {}) as KubeResponse["headers"],
      body: once(isObjects ? JSON.stringify(withVersion(answer, number)) : text),
    };
  }

  #schedule(place: Place, version: Version): void {
    this.at(version.at, () => this.#advance(this.#tracks.get(place) as Track));
  }

  /** Does the writes of others that are due. One after a write of the program waits for that a while. */
  #advance(track: Track): void {
    const { versions, store, key } = track.place;
    track.wait?.stop();
    for (;;) {
      const version = versions[track.next];
      const due = versions
        .slice(track.next)
        .find(({ by, at }) => by === undefined && at <= this.time);
      if (version === undefined || due === undefined) return;
      if (version.by === undefined) this.#change(track, version);
      else {
        const isNew =
          version.object !== undefined && versions[track.next - 1]?.object === undefined;
        if (isNew && this.state.store(store).get(key) === undefined) return; // others need it
        if (!track.isOff && due.at + GRACE > this.time) {
          track.wait = this.at(due.at + GRACE, () => this.#advance(track));
          return;
        }
        track.next += 1;
      }
    }
  }

  /** Others change an object. */
  #change(track: Track, version: Version): void {
    const { store, key, versions } = track.place;
    const current = this.state.store(store).get(key);
    const before = versions[track.next - 1]?.object;
    const { object } = version;
    const isRecorded = this.#isSame(current, before);
    if (
      !isRecorded
        ? !this.#isSame(current, before, ["uid", "generation"])
        : this.#isCollected(version, current)
    )
      this.#orphan(track.place, version);
    if (isRecorded) {
      this.#put(track, version);
      return;
    }
    track.next += 1;
    if (object === undefined) {
      if (current !== undefined && before !== undefined) this.state.write(store, key, undefined);
    } else if (current === undefined) {
      if (before === undefined) this.state.write(store, key, (made) => withVersion(object, made));
    } else if (before !== undefined) {
      const next = rebased(before, object, current);
      this.state.write(store, key, (made) => withVersion(next, made));
    }
  }

  /** An object becomes the recorded one. */
  #put(track: Track, { object, number, watched }: Version): void {
    const { store, key } = track.place;
    track.next += 1;
    track.isOff = false;
    if (object === undefined && this.state.store(store).get(key) === undefined) return;
    const make = object && ((version: string) => withVersion(object, version));
    this.state.write(store, key, make, Number(scaled(number)));
    if (watched !== undefined) this.watchedAt.set(`${this.state.version}`, watched);
  }

  /** Whether others delete an object whose owner is there. */
  #isCollected({ object }: Version, current: JsonObject | undefined): boolean {
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

function scaled(number: number): string {
  return `${Math.floor(number * SCALE)}`;
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
