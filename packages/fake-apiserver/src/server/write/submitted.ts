import type { JsonObject } from "../../object/json.ts";
import { ownerWarnings } from "../../object/metadata-causes.ts";
import { Failure } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { decodeFailure } from "../resource/decode.ts";
import { normalize } from "../resource/normalize.ts";
import type { AdmittedWrite } from "./objects.ts";
import type { WriteOptions } from "./write-options.ts";

/** An object that a call submits. */
export interface Submission {
  readonly submitted: JsonObject;
  readonly options: WriteOptions;

  /** Texts about members of the body that have no meaning. */
  readonly unknown: readonly string[];
}

/**
 * Checks a submitted object for unknown fields, then makes its write.
 *
 * @returns what `write` returns, with the warnings about the object
 * @throws Failure for unknown fields, if the writer is strict about them, and that of `write`, with the warnings
 */
export async function admitSubmitted(
  call: ApiCall,
  submission: Submission,
  write: () => Promise<AdmittedWrite>,
): Promise<AdmittedWrite> {
  const warnings = warningsFor(call, submission);
  try {
    const written = await write();
    return { ...written, warnings: [...warnings, ...(written.warnings ?? [])] };
  } catch (error) {
    if (error instanceof Failure) error.warnings = warnings;
    throw error;
  }
}

/** @throws Failure for unknown fields, if the writer is strict about them */
function warningsFor(call: ApiCall, { submitted, options, unknown }: Submission): string[] {
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
