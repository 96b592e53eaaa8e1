import type { Random } from "@holdfast/wait";
import { defined, type JsonObject, metadataOf, without } from "../../object/json.ts";
import { finalizerWarnings } from "../../object/metadata-causes.ts";
import { alreadyExists } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { normalize } from "../resource/normalize.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { ownedAfterUpdate } from "./ownership.ts";
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
  const { served } = call;
  if (!options.isDryRun) requireNoVersion(submitted);
  const normal = normalize(
    served,
    served.hasStatus ? without(submitted, "status") : submitted,
    options.managers !== undefined,
  ).object;
  const made = withSystemFields(objects, call, normal);
  requireValid(served, made);
  const name = metadataOf(made)["name"] as string;
  const write = { call, options, now: objects.now(), given: undefined };
  const object = ownedAfterUpdate(undefined, made, write);
  if (objects.has(call, name))
    throw alreadyExists(served, name, metadataOf(submitted)["generateName"]);
  requireStorable(call, object);
  const warnings = finalizerWarnings(served, undefined, normal);
  return { call, name, object, options, status: 201, warnings };
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

/** A UUID of version 4. */
function madeUid(random: Random): string {
  const digits = (count: number): string =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}
