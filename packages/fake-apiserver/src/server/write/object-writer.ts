import type { PassiveClock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import {
  defined,
  isEqual,
  type JsonObject,
  metadataOf,
  stringsOf,
  without,
} from "../../object/json.ts";
import { keptMetadata, orderedMetadata } from "../../object/metadata.ts";
import { finalizerWarnings, ownerWarnings } from "../../object/metadata-causes.ts";
import { alreadyExists, Failure, notFound } from "../failure.ts";
import { type ApiCall, keyOfCall } from "../request/api-call.ts";
import { decodeFailure } from "../resource/decode.ts";
import { asServed, asStored, normalize, withoutUnwantedNulls } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { ApiState } from "../state/api-state.ts";
import { managedAfterUpdate } from "./ownership.ts";
import { requireCurrent, requireNoVersion } from "./stale.ts";
import { requireValid } from "./validate.ts";
import type { WriteOptions } from "./write-options.ts";

/** An object that was written, or would have been in a dry run. */
export interface Written {
  readonly object: JsonObject;
  readonly isNew: boolean;

  /** Texts for the writer. */
  readonly warnings?: readonly string[];
}

/** Where writes go. */
export interface WriterOptions {
  readonly state: ApiState;
  readonly clock: PassiveClock;
  readonly random: Random;
}

/** Stores objects by the rules that all of Kubernetes' registries share. */
export class ObjectWriter {
  readonly #state: ApiState;
  readonly #clock: PassiveClock;
  readonly #random: Random;

  constructor({ state, clock, random }: WriterOptions) {
    this.#state = state;
    this.#clock = clock;
    this.#random = random;
  }

  /** The object that a call names, or undefined. */
  find(call: ApiCall): JsonObject | undefined {
    const found = this.#state.store(call.served.storeKey).get(keyOfCall(call, call.name));
    return found && asServed(call.served, found);
  }

  /** @throws Failure if the object does not exist */
  get(call: ApiCall): JsonObject {
    const found = this.find(call);
    if (found === undefined) throw notFound(call.served, call.name);
    return found;
  }

  /** The time of the server, as objects have it. */
  now(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
  }

  /**
   * Reads a submitted object before it is written.
   *
   * @returns what `write` returns, with the warnings about the object
   * @throws Failure for unknown fields, if the writer is strict about them, and that of `write`, with the warnings
   */
  warned(
    call: ApiCall,
    submitted: JsonObject,
    {
      options,
      write,
      unknown = [],
    }: {
      readonly options: WriteOptions;
      readonly write: () => Written;
      /** Texts about members of the body that have no meaning. */
      readonly unknown?: readonly string[];
    },
  ): Written {
    const warnings = warningsFor(call, submitted, { options, unknown });
    try {
      const written = write();
      return { ...written, warnings: [...warnings, ...(written.warnings ?? [])] };
    } catch (error) {
      if (error instanceof Failure) error.warnings = warnings;
      throw error;
    }
  }

  /** @throws Failure if the object is not valid or exists already */
  create(call: ApiCall, submitted: JsonObject, options: WriteOptions): Written {
    const { served } = call;
    if (!options.isDryRun) requireNoVersion(submitted);
    const normal = normalize(
      served,
      served.hasStatus ? without(submitted, "status") : submitted,
      options.managers !== undefined,
    ).object;
    const object = this.#named(call, normal);
    requireValid(served, object);
    const warnings = finalizerWarnings(served, undefined, normal);
    const name = metadataOf(object)["name"] as string;
    const key = keyOfCall(call, name);
    const now = this.now();
    const owned = this.#owned(undefined, object, { call, options, now, given: undefined });
    if (this.#state.store(served.storeKey).get(key) !== undefined)
      throw alreadyExists(served, name, metadataOf(submitted)["generateName"]);
    requireStorable(call, owned);
    const stored = this.#store(served, key, { object: owned, options });
    return { object: stored, isNew: true, warnings };
  }

  /**
   * Replaces `old`.
   *
   * @throws Failure if `submitted` is not valid, or names another version or uid
   */
  update(call: ApiCall, old: JsonObject, submitted: JsonObject, options: WriteOptions): Written {
    const { served } = call;
    requireCurrent(call, old, submitted);
    const object = this.#updated(call, old, submitted, options);
    const given = metadataOf(submitted)["managedFields"];
    const next = hasNoManagers(submitted)
      ? { ...object, metadata: without(metadataOf(object), "managedFields") }
      : this.#owned(old, object, { call, options, now: this.now(), given });
    const { subresource } = call;
    const changes = subresource === undefined ? { submitted } : {};
    requireValid(served, next, { old, subresource, ...changes });
    const warnings = finalizerWarnings(served, old, object);
    if (isGone(next)) {
      this.remove(call, call.name, options);
      const gone = withVersion(next, metadataOf(old)["resourceVersion"]);
      return { object: gone, isNew: false, warnings };
    }
    requireStorable(call, next);
    const stored = this.#store(served, keyOfCall(call, call.name), { object: next, old, options });
    return { object: stored, isNew: false, warnings };
  }

  /** Marks an object as being deleted, with the finalizers that hold it back. A marked one gets these finalizers. */
  mark(
    call: ApiCall,
    old: JsonObject,
    { finalizers, options }: { finalizers: readonly string[]; options: WriteOptions },
  ): JsonObject {
    const was = metadataOf(old);
    const generation = was["generation"];
    const isMarked = was["deletionTimestamp"] !== undefined;
    const metadata = defined({
      ...was,
      finalizers,
      generation: typeof generation === "number" && !isMarked ? generation + 1 : generation,
      deletionTimestamp: was["deletionTimestamp"] ?? this.now(),
      deletionGracePeriodSeconds: 0,
    });
    const object = { ...old, metadata };
    return this.#store(call.served, keyOfCall(call, call.name), { object, old, options });
  }

  /** Removes an object that nothing holds back. */
  remove(call: ApiCall, name: string, { isDryRun }: WriteOptions): void {
    if (!isDryRun) this.#state.write(call.served.storeKey, keyOfCall(call, name), undefined);
  }

  /** An object with the metadata that the server gives a new one. */
  #named(call: ApiCall, object: JsonObject): JsonObject {
    const name = this.#nameOf(call, metadataOf(object));
    const metadata = {
      ...without(metadataOf(object), "deletionTimestamp", "deletionGracePeriodSeconds"),
      name: name || undefined,
      uid: madeUid(this.#random),
      creationTimestamp: this.now(),
      generation: call.served.hasGeneration ? 1 : undefined,
    };
    return { ...object, metadata: defined(metadata) };
  }

  #nameOf(call: ApiCall, { name, generateName }: JsonObject): string {
    if (typeof name === "string" && name !== "") return name;
    if (call.name !== "") return call.name;
    if (typeof generateName !== "string" || generateName === "") return "";
    const store = this.#state.store(call.served.storeKey);
    for (;;) {
      const made = madeName(generateName, this.#random);
      if (store.get(keyOfCall(call, made)) === undefined) return made;
    }
  }

  #updated(
    { served, subresource }: ApiCall,
    old: JsonObject,
    submitted: JsonObject,
    { managers }: WriteOptions,
  ): JsonObject {
    const isOfStatus = subresource === "status";
    const merged = isOfStatus
      ? defined({ ...old, status: submitted["status"] })
      : defined({ ...submitted, ...(served.hasStatus && { status: old["status"] }) });
    const { object: next } = normalize(served, merged, managers !== undefined);
    const metadata = keptMetadata(old, isOfStatus ? old : next);
    const generation = metadata["generation"];
    if (typeof generation === "number" && !isEqual(specOf(served, old), specOf(served, next)))
      metadata["generation"] = generation + 1;
    return { ...next, metadata };
  }

  #owned(
    old: JsonObject | undefined,
    object: JsonObject,
    write: Parameters<typeof managedAfterUpdate>[2],
  ): JsonObject {
    const managedFields = managedAfterUpdate(old, object, write);
    const metadata = defined({ ...metadataOf(object), managedFields });
    return { ...object, metadata };
  }

  #store(
    served: ServedResource,
    key: string,
    { object, old, options }: { object: JsonObject; old?: JsonObject; options: WriteOptions },
  ): JsonObject {
    const version = metadataOf(old ?? object)["resourceVersion"];
    const stored = options.managers === undefined ? object : withoutUnwantedNulls(served, object);
    const same = withVersion(stored, version);
    if (options.isDryRun || (old !== undefined && isEqual(same, old))) return same;
    const write = (made: string) => withVersion(asStored(served, stored), made);
    return asServed(served, this.#state.write(served.storeKey, key, write) as JsonObject);
  }
}

/** Whether a submitted object asks to forget its managers: by an empty entry as the only one. */
function hasNoManagers(submitted: JsonObject): boolean {
  const managers = metadataOf(submitted)["managedFields"];
  return Array.isArray(managers) && managers.length === 1 && isEqual(managers[0], {});
}

/** Whether the last finalizer of a deleted object has gone. */
function isGone(object: JsonObject): boolean {
  const { deletionTimestamp, finalizers } = metadataOf(object);
  return deletionTimestamp !== undefined && stringsOf(finalizers).length === 0;
}

function withVersion(object: JsonObject, version: unknown): JsonObject {
  const metadata = orderedMetadata({ ...metadataOf(object), resourceVersion: version });
  return { ...object, metadata };
}

/** The part whose changes raise the generation. */
function specOf({ hasStatus }: ServedResource, object: JsonObject): JsonObject {
  return without(object, "metadata", ...(hasStatus ? ["status"] : []));
}

/** @throws Failure for unknown fields, if the writer is strict about them */
/** The most bytes of a request to etcd, less a kilobyte for what is beside the object. */
const MAX_OBJECT = 1_572_864 - 1_024;

/** A write whose body has no more bytes does not make an object too large. */
const SMALL_BODY = 10_000;

/** @throws Failure for an object that is too large for etcd */
function requireStorable({ body = "" }: ApiCall, object: JsonObject): void {
  if (body.length <= SMALL_BODY || Buffer.byteLength(JSON.stringify(object)) <= MAX_OBJECT) return;
  throw new Failure(500, { message: "etcdserver: request is too large" });
}

function warningsFor(
  call: ApiCall,
  submitted: JsonObject,
  { options, unknown }: { readonly options: WriteOptions; readonly unknown: readonly string[] },
): string[] {
  const owners = ownerWarnings(submitted, call.verb);
  // The schema of a custom resource is checked by the apply itself.
  const isChecked = options.managers !== undefined && !call.served.isBuiltIn;
  const paths = isChecked ? [] : normalize(call.served, submitted).unknown;
  const texts = [...unknown, ...paths.map((path) => `unknown field "${path}"`)];
  if (texts.length === 0 || options.fieldValidation === "Ignore") return owners;
  if (options.fieldValidation === "Strict")
    throw decodeFailure(call, `strict decoding error: ${texts.join(", ")}`, submitted);
  return [...texts, ...owners];
}

// As k8s.io/apimachinery/pkg/util/rand: no vowels and nothing that looks like another letter.
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** Longest prefix of a generated name. */
const MAX_PREFIX = 58;

/** A name with a prefix and five random letters. */
function madeName(prefix: string, random: Random): string {
  const letters = Array.from({ length: 5 }, () => LETTERS[Math.floor(random() * LETTERS.length)]);
  return prefix.slice(0, MAX_PREFIX) + letters.join("");
}

/** A UUID of version 4. */
function madeUid(random: Random): string {
  const digits = (count: number): string =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}
