import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import { isEqual, type JsonObject, metadataOf } from "../../object/json.ts";
import { orderedMetadata } from "../../object/metadata.ts";
import { notFound } from "../failure.ts";
import { type ApiCall, keyOfCall } from "../request/api-call.ts";
import { listPage } from "../request/list-objects.ts";
import { asServed, asStored, requireVersion, withoutUnwantedNulls } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { ApiState } from "../state/api-state.ts";
import type { WriteOptions } from "./write-options.ts";

/** A write that has passed its checks. */
export interface AdmittedWrite {
  readonly call: ApiCall;

  /** Name of the object. */
  readonly name: string;

  /** The object before the write. Undefined for a new one. */
  readonly old?: JsonObject | undefined;

  /** The object after the write, without its version. */
  readonly object: JsonObject;

  /** Whether the write removes the object. */
  readonly isRemoved?: boolean;

  readonly options: WriteOptions;

  /** HTTP status code of the response. */
  readonly status: 200 | 201 | 202;

  /** Texts for the writer. */
  readonly warnings?: readonly string[];
}

/** Where objects are, and what new ones are made of. */
export interface ObjectsOptions {
  readonly state: ApiState;
  readonly clock: Clock;
  readonly random: Random;
}

/** The stored objects, as calls see them. */
export class Objects {
  readonly state: ApiState;
  readonly clock: Clock;
  readonly random: Random;

  constructor({ state, clock, random }: ObjectsOptions) {
    this.state = state;
    this.clock = clock;
    this.random = random;
  }

  /** The time of the server, in milliseconds since the epoch. */
  readonly time = (): number => this.clock.now();

  /** The object that a call names, or undefined. */
  find(call: ApiCall): JsonObject | undefined {
    const found = this.state.store(call.served.storeKey).get(keyOfCall(call, call.name));
    if (found === undefined) return undefined;
    requireVersion(call.served, found);
    return asServed(call.served, found);
  }

  /** @throws Failure if the object does not exist */
  get(call: ApiCall): JsonObject {
    const found = this.find(call);
    if (found === undefined) throw notFound(call.served, call.name);
    return found;
  }

  /** The objects that a call selects. */
  selected(call: ApiCall): readonly JsonObject[] {
    return listPage(this.state, call).objects;
  }

  /** Whether there is an object of this name where a call looks. */
  has(call: ApiCall, name: string): boolean {
    return this.state.store(call.served.storeKey).get(keyOfCall(call, name)) !== undefined;
  }

  /** The time of the server, as objects have it. */
  now(): string {
    return `${new Date(this.time()).toISOString().slice(0, 19)}Z`;
  }

  /** Whether the object of a write is as it was when the write was made. */
  isCurrent({ call, name, old }: AdmittedWrite): boolean {
    const now = this.state.store(call.served.storeKey).get(keyOfCall(call, name));
    const versionOf = (object: JsonObject | undefined): unknown =>
      object && metadataOf(object)["resourceVersion"];
    return versionOf(now) === versionOf(old);
  }

  /** Whether an object is stored in another version than new ones: any write of it stores it anew. */
  #isOutdated({ apiVersion, storage, storeKey, isBuiltIn }: ServedResource, key: string): boolean {
    const stored = this.state.store(storeKey).get(key);
    const wanted = storage?.apiVersion ?? apiVersion;
    return !isBuiltIn && stored !== undefined && stored["apiVersion"] !== wanted;
  }

  /**
   * Carries a write out, unless it is a dry run or changes nothing.
   *
   * @returns the object as the response shows it
   */
  commit({ call, name, old, object, isRemoved, options }: AdmittedWrite): JsonObject {
    const { served } = call;
    const key = keyOfCall(call, name);
    const version = metadataOf(old ?? object)["resourceVersion"];
    if (isRemoved) {
      if (!options.isDryRun) this.state.write(served.storeKey, key, undefined);
      return withVersion(object, version);
    }
    const stored = options.managers === undefined ? object : withoutUnwantedNulls(served, object);
    const same = withVersion(stored, version);
    const isUnchanged = old !== undefined && isEqual(same, old) && !this.#isOutdated(served, key);
    if (options.isDryRun || isUnchanged) return same;
    const kept = asStored(served, stored);
    const write = (made: string) => withVersion(kept, made);
    return asServed(served, this.state.write(served.storeKey, key, write) as JsonObject);
  }
}

/** An object at a version. */
export function withVersion(object: JsonObject, version: unknown): JsonObject {
  const metadata = orderedMetadata({ ...metadataOf(object), resourceVersion: version });
  return { ...object, metadata };
}
