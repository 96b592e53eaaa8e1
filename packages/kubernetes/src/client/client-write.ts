import type { ObjectName } from "../object/object-ref.ts";
import type { Resource } from "../object/resource.ts";

/** A write of a client that the server has responded to. */
export interface ClientWrite {
  /** Resource of the object. */
  readonly resource: Resource;

  /** Method of the client. `modify` is an `update`. */
  readonly verb: "create" | "update" | "patch" | "apply" | "delete";

  /** Name and namespace of the object; for a `generateName`, the name that the server made. */
  readonly ref: ObjectName;

  /** Subresource that was written. Undefined for the object itself. */
  readonly subresource: string | undefined;

  /** Whether the server only tried it. */
  readonly dryRun: boolean;

  /** The server's response, parsed. The caller receives the same object: do not change it. */
  readonly response: object;

  /** UID of the object, if the response names it. A `Status` of a deletion has it in its details. */
  readonly uid: string | undefined;
}
