import { messageOf } from "@holdfast/kit";
import { Failure } from "../failure.ts";
import type { HookFault, HookFaults } from "../faults.ts";
import type { Convert, ServedResource } from "../resource/served-resource.ts";

/** Milliseconds for which a server waits for the answer of a conversion. */
const TIMEOUT = 30_000;

/** A resource whose conversion fails as that of a server does: by a fault, or by an error of its own. */
export function withFailures(served: ServedResource, faults: HookFaults): ServedResource {
  const { convert: given, resource } = served;
  if (given === undefined) return served;
  const convert: Convert = (object, version) => {
    const fault = faults.find({ crd: resource.crd });
    try {
      if (fault !== undefined) throw new Error(textOf(fault));
      return given(object, version);
    } catch (error) {
      const about = `conversion webhook for ${object["apiVersion"]}, Kind=${object["kind"]}`;
      const message = `${about} failed: ${messageOf(error)}`;
      const delay = fault?.type === "slow" ? (fault.delay ?? TIMEOUT) : undefined;
      throw new Failure(500, { message, delay });
    }
  };
  return { ...served, convert };
}

function textOf(fault: HookFault): string {
  const post = 'Post "https://webhooks.default.svc:443/convert?timeout=30s": ';
  switch (fault.type) {
    case "down":
      return `${post}dial tcp 127.0.0.1:443: connect: connection refused`;
    case "slow":
      return `${post}context deadline exceeded`;
    case "refuses":
      return fault.message ?? "unknown";
    case "status":
      return `an error on the server ("") has prevented the request from succeeding`;
  }
}
