import type { ApiCall } from "../request/api-call.ts";
import { decode } from "../resource/decode.ts";
import { admitApply } from "./apply-object.ts";
import { changedObject } from "./changed-object.ts";
import { admitCollectionDelete, admitDelete, deletionOf } from "./delete-object.ts";
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
 * Makes the writes of a call, with all their checks. Nothing is stored. The writes of a deleted collection are made as
 * they are read: each when the one before is stored.
 *
 * @returns nothing for a read
 * @throws Failure for a write that the server does not allow
 */
export function admit(
  objects: Objects,
  call: ApiCall,
  requireVerb: RequireVerb,
): Iterable<AdmittedWrite> {
  switch (call.verb) {
    case "create":
      return [admitCreate(objects, call)];
    case "update":
      return [admitUpdate(objects, call, requireVerb)];
    case "patch":
      return [admitPatch(objects, call, requireVerb)];
    case "delete":
      return [admitDelete(objects, call, deletionOf(call))];
    case "deletecollection":
      return admitCollectionDelete(objects, call, deletionOf(call));
    default:
      return [];
  }
}

function admitCreate(objects: Objects, call: ApiCall): AdmittedWrite {
  const options = writeOptionsOf(call, "CreateOptions");
  const submitted = readObject(call);
  const unknown = duplicateTexts(call);
  return admitSubmitted(call, { submitted, options, unknown }, () =>
    newObject(objects, call, submitted, options),
  );
}

function admitUpdate(objects: Objects, call: ApiCall, requireVerb: RequireVerb): AdmittedWrite {
  const { served, subresource } = call;
  if (subresource === "scale") return admitScale(objects, call);
  const options = writeOptionsOf(call, "UpdateOptions");
  const submitted = readObject(call);
  const unknown = duplicateTexts(call);
  return admitSubmitted(call, { submitted, options, unknown }, () => {
    const old = objects.find(call);
    if (old !== undefined || !served.canPutNew || subresource !== undefined)
      return changedObject(objects, call, { old: old ?? objects.get(call), submitted }, options);
    requireVerb("create");
    return newObject(objects, call, newByPut(call, submitted), options);
  });
}

function admitPatch(objects: Objects, call: ApiCall, requireVerb: RequireVerb): AdmittedWrite {
  const { subresource } = call;
  if (subresource === "scale") return admitScale(objects, call);
  const isApply = contentTypeOf(call) === APPLY;
  const options = writeOptionsOf(call, "PatchOptions", isApply);
  // A subresource makes no object.
  const isNew = isApply && subresource === undefined && objects.find(call) === undefined;
  if (isNew) requireVerb("create");
  if (isApply) return admitApply(objects, call, options);
  const old = objects.get(call);
  const { object: patched, unknown } = patchedObject(call, old);
  requirePatchedType(call, patched);
  const submitted = requirePlace(call, decode(call, patched));
  return admitSubmitted(call, { submitted, options, unknown }, () =>
    changedObject(objects, call, { old, submitted }, options),
  );
}
