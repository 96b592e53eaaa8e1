import type { Cause } from "../object/cause.ts";
import { defined, type JsonObject } from "../object/json.ts";

/** The object that a failure is about, by names of a path. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
}

/** Details of a {@link Failure}. */
export interface FailureParts {
  readonly reason?: string | undefined;
  readonly message: string;
  readonly details?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;

  /** Milliseconds until the server responds. */
  readonly delay?: number | undefined;
}

/** A request that the server refuses, as a `Status`. */
export class Failure extends Error {
  override readonly name = "Failure";

  /** HTTP status code. */
  readonly code: number;

  /** The body of the response. */
  readonly status: JsonObject;

  /** Milliseconds until the server responds. */
  delay: number | undefined;

  /** Texts for the writer. */
  warnings: readonly string[] = [];

  constructor(code: number, { reason, message, details, metadata = {}, delay }: FailureParts) {
    super(message);
    this.delay = delay;
    this.code = code;
    this.status = defined({
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      reason,
      details,
      code,
    });
  }
}

/** A resource as messages name it: `greetings.example.org`. */
export function qualified({ group, plural }: Subject): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function detailsOf({ group, plural }: Subject, name: string, more: JsonObject = {}): JsonObject {
  return defined({ name: name || undefined, group: group || undefined, kind: plural, ...more });
}

export function notFound(subject: Subject, name: string): Failure {
  const message = `${qualified(subject)} ${JSON.stringify(name)} not found`;
  return new Failure(404, { reason: "NotFound", message, details: detailsOf(subject, name) });
}

/**
 * An object of that name is there.
 *
 * @param prefix - `generateName` of the new object, with which a server promises another name to the next try
 */
export function alreadyExists(subject: Subject, name: string, prefix?: unknown): Failure {
  const reason = "AlreadyExists";
  const message = `${qualified(subject)} ${JSON.stringify(name)} already exists`;
  if (!prefix) return new Failure(409, { reason, message, details: detailsOf(subject, name) });
  return new Failure(409, {
    reason,
    message: `${message}, the server was not able to generate a unique name for the object`,
    details: detailsOf(subject, name, { retryAfterSeconds: 1 }),
  });
}

/** The object differs from the writer's assumption. `why` defaults to a stale version. */
export function conflict(
  subject: Subject,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): Failure {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} ${JSON.stringify(name)}: ${why}`;
  return new Failure(409, { reason: "Conflict", message, details: detailsOf(subject, name) });
}

/** Fields that are not allowed. `kind` is the kind of the object, or the server's name for it. */
export function invalid(
  { group, plural: kind }: Subject,
  name: string,
  causes: readonly Cause[],
): Failure {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const message = `${qualified({ group, plural: kind })} ${JSON.stringify(name)} is invalid: ${list}`;
  const details = detailsOf({ group, plural: kind }, name, { causes });
  return new Failure(422, { reason: "Invalid", message, details });
}

export function badRequest(message: string): Failure {
  return new Failure(400, { reason: "BadRequest", message });
}

/** A version, or a token of a list, of which the history is gone. */
export function expired(message: string, metadata?: JsonObject): Failure {
  return new Failure(410, { reason: "Expired", message, ...(metadata && { metadata }) });
}

/** A method that a path does not have. */
export function methodNotAllowed(
  method: string,
  subject: Subject & { readonly isBuiltIn: boolean },
  { name, subresource }: { readonly name: string; readonly subresource?: string | undefined },
): Failure {
  if (subject.isBuiltIn) return noSuchMethod();
  const isOfCollection = name === "" && ["PUT", "PATCH"].includes(method);
  if (isOfCollection && subresource === undefined) return badRequest("name must be provided");
  return new Failure(405, {
    reason: "MethodNotAllowed",
    message: `${VERBS[method] ?? ""} is not supported on resources of kind ${JSON.stringify(qualified(subject))}`,
    details: detailsOf(subject, ""),
  });
}

/** Verbs of the methods that a subresource lacks. */
const VERBS: Readonly<Record<string, string>> = { POST: "create", DELETE: "delete" };

/** A method that no path of a built-in resource or of discovery has. */
export function noSuchMethod(): Failure {
  const message = "the server does not allow this method on the requested resource";
  return new Failure(405, { reason: "MethodNotAllowed", message, details: {} });
}

/** A path below a group that the server has, at which nothing is. */
export function noSuchResource(advice: string): Failure {
  const message = `the server could not find the requested resource${advice && `: ${advice}`}`;
  return new Failure(404, { reason: "NotFound", message, details: {} });
}

export function unsupportedMediaType(allowed: readonly string[]): Failure {
  const message = `the body of the request was in an unknown format - accepted media types include: ${allowed.join(", ")}`;
  return new Failure(415, { reason: "UnsupportedMediaType", message });
}

/** The most bytes of a body. */
const MAX_BODY = 3_145_728;

/** @throws Failure for a body that is longer than a server reads */
export function requireReadable(body: string | undefined): void {
  if (body === undefined || Buffer.byteLength(body) <= MAX_BODY) return;
  const message = `Request entity too large: limit is ${MAX_BODY}`;
  throw new Failure(413, { reason: "RequestEntityTooLarge", message });
}

export function notAcceptable(): Failure {
  const message =
    "only the following media types are accepted: application/json, application/json;as=PartialObjectMetadata, application/json;as=PartialObjectMetadataList";
  return new Failure(406, { reason: "NotAcceptable", message, details: {} });
}

export function unauthorized(): Failure {
  return new Failure(401, { reason: "Unauthorized", message: "Unauthorized" });
}

/** A request for another host than this machine. */
export function foreignHost(): Failure {
  return new Failure(421, { message: "use 127.0.0.1 or localhost" });
}

/** An error that no request can cause on a real server. */
export function internalError(error: unknown): Failure {
  const message = `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
  return new Failure(500, { reason: "InternalError", message });
}

/** An error that the server itself met. */
export function internalFailure(message: string): Failure {
  return new Failure(500, {
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** A request that took longer than the server lets one take. */
export function timedOut(): Failure {
  const message =
    "Timeout: request did not complete within requested timeout - context deadline exceeded";
  return new Failure(504, { reason: "Timeout", message, details: {} });
}

/** A feature of a real server that the fake server lacks. */
export function notImplemented(message: string): Failure {
  return new Failure(501, { reason: "NotImplemented", message });
}
