import type { ApiCall } from "../request/api-call.ts";
import { decode } from "../resource/decode.ts";
import { admitApply } from "./apply-object.ts";
import { changedObject } from "./changed-object.ts";
import { admitDelete, deletionOf } from "./delete-object.ts";
import { duplicateTexts } from "./duplicate-fields.ts";
import { newObject } from "./new-object.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { APPLY, contentTypeOf, patchedObject } from "./patch-object.ts";
import { readObject, requirePatchedType, requirePlace } from "./read-object.ts";
import { admitScale } from "./scale.ts";
import { newByPut } from "./stale.ts";
import { admitSubmitted } from "./submitted.ts";
import { writeOptionsOf } from "./write-options.ts";

/** Checks the right to another verb on the same object. */
export type RequireVerb = (verb: string) => void;

/**
 * Makes the write of a call to one object, with all its checks. Nothing is stored.
 *
 * @returns the write. Rejects with a Failure for one that the server does not allow
 */
export async function admit(
  objects: Objects,
  call: ApiCall,
  requireVerb: RequireVerb,
): Promise<AdmittedWrite> {
  switch (call.verb) {
    case "create":
      return await admitCreate(objects, call);
    case "update":
      return await admitUpdate(objects, call, requireVerb);
    case "patch":
      return await admitPatch(objects, call, requireVerb);
    default:
      return await admitDelete(objects, call, deletionOf(call));
  }
}

async function admitCreate(objects: Objects, call: ApiCall): Promise<AdmittedWrite> {
  const options = writeOptionsOf(call, "CreateOptions");
  const submitted = readObject(call);
  const unknown = duplicateTexts(call);
  return await admitSubmitted(call, { submitted, options, unknown }, () =>
    newObject(objects, call, submitted, options),
  );
}

async function admitUpdate(
  objects: Objects,
  call: ApiCall,
  requireVerb: RequireVerb,
): Promise<AdmittedWrite> {
  const { served, subresource } = call;
  if (subresource === "scale") return await admitScale(objects, call);
  const options = writeOptionsOf(call, "UpdateOptions");
  const submitted = readObject(call);
  const unknown = duplicateTexts(call);
  return await admitSubmitted(call, { submitted, options, unknown }, async () => {
    const old = objects.find(call);
    if (old !== undefined || !served.canPutNew || subresource !== undefined)
      return await changedObject(
        objects,
        call,
        { old: old ?? objects.get(call), submitted },
        options,
      );
    requireVerb("create");
    return await newObject(objects, call, newByPut(call, submitted), options);
  });
}

async function admitPatch(
  objects: Objects,
  call: ApiCall,
  requireVerb: RequireVerb,
): Promise<AdmittedWrite> {
  const { subresource } = call;
  if (subresource === "scale") return await admitScale(objects, call);
  const isApply = contentTypeOf(call) === APPLY;
  const options = writeOptionsOf(call, "PatchOptions", isApply);
  // A subresource makes no object.
  const isNew = isApply && subresource === undefined && objects.find(call) === undefined;
  if (isNew) requireVerb("create");
  if (isApply) return await admitApply(objects, call, options);
  const old = objects.get(call);
  const { object: patched, unknown } = patchedObject(call, old);
  requirePatchedType(call, patched);
  const submitted = requirePlace(call, decode(call, patched));
  return await admitSubmitted(call, { submitted, options, unknown }, () =>
    changedObject(objects, call, { old, submitted }, options),
  );
}
