import type { Random } from "@holdfast/wait";
import { isTyped } from "../../managed-fields/typed-value.ts";
import { defined, type JsonObject, metadataOf, without } from "../../object/json.ts";
import { finalizerWarnings } from "../../object/metadata-causes.ts";
import { alreadyExists } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { asStored, normalize } from "../resource/normalize.ts";
import { madeUid } from "./made-uid.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { ownedAfterUpdate, withManagers } from "./ownership.ts";
import { requireSamePlace } from "./read-object.ts";
import { requireNoVersion } from "./stale.ts";
import { requireStorable, requireValid } from "./validate.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * The write that creates an object.
 *
 * @throws Failure if the object is not valid or exists already
 */
export async function newObject(
  objects: Objects,
  call: ApiCall,
  submitted: JsonObject,
  options: WriteOptions,
): Promise<AdmittedWrite> {
  const { served, admission } = call;
  const read = (given: JsonObject): JsonObject =>
    normalize(served, given, options.managers !== undefined).object;
  const own = (one: JsonObject): JsonObject => (served.hasStatus ? without(one, "status") : one);
  const given = read(submitted);
  const write = { call, options, now: objects.now(), given: undefined };
  // The managers of an object of wrong types, which a webhook may repair, are not known.
  const { managedFields } = metadataOf(
    admission === undefined || isTyped(given, served.fieldType)
      ? ownedAfterUpdate(undefined, own(given), write)
      : {},
  );
  const owned = (one: JsonObject): JsonObject => withManagers(one, managedFields);
  const review = { operation: "CREATE", old: null, options } as const;
  const named = { ...review, name: call.name || textOf(metadataOf(given)["name"]) };
  const admitted = admission
    ? await admission.mutate(call, { ...named, object: owned(given) }, (one) => owned(read(one)))
    : given;
  requireSamePlace(call, admitted);
  if (!options.isDryRun) requireNoVersion(admitted);
  const normal = own(admitted);
  const made = withSystemFields(objects, call, withManagers(normal, undefined));
  requireValid(served, made);
  const name = metadataOf(made)["name"] as string;
  const object = owned(made);
  await admission?.validate(call, { ...review, name, object });
  // A server makes what it stores before it looks whether the name is free.
  if (served.convert !== undefined) asStored(served, object);
  if (objects.has(call, name))
    throw alreadyExists(served, name, metadataOf(admitted)["generateName"]);
  requireStorable(call, object);
  const warnings = finalizerWarnings(served, undefined, normal);
  return { call, name, object, options, status: 201, warnings };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** An object with the metadata that the server gives a new one. */
function withSystemFields(objects: Objects, call: ApiCall, object: JsonObject): JsonObject {
  const name = nameOf(objects, call, metadataOf(object));
  const metadata = {
    ...without(metadataOf(object), "deletionTimestamp", "deletionGracePeriodSeconds"),
    name: name || undefined,
    uid: madeUid(objects.random),
    creationTimestamp: objects.now(),
    generation: call.served.hasGeneration ? 1 : undefined,
  };
  return { ...object, metadata: defined(metadata) };
}

function nameOf(objects: Objects, call: ApiCall, { name, generateName }: JsonObject): string {
  if (typeof name === "string" && name !== "") return name;
  if (call.name !== "") return call.name;
  if (typeof generateName !== "string" || generateName === "") return "";
  for (;;) {
    const made = madeName(generateName, objects.random);
    if (!objects.has(call, made)) return made;
  }
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
