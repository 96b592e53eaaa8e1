import type { Clock } from "@holdfast/clock";
import type { KubeRequest } from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { type JsonObject, metadataOf } from "../object/json.ts";
import type { ApiResponse } from "./api-response.ts";
import { discover } from "./discovery.ts";
import { Failure, internalError, noSuchMethod, requireReadable } from "./failure.ts";
import type { ApiCall } from "./request/api-call.ts";
import { listObjects, listPage, requireKnownVersion } from "./request/list-objects.ts";
import { representationOf } from "./request/representation.ts";
import { attributesOf, type ParsedPath, parsePath, routeOf } from "./request/route.ts";
import { selectorOf } from "./request/selector.ts";
import { decode } from "./resource/decode.ts";
import type { ServedResource } from "./resource/served-resource.ts";
import type { Rights } from "./rights.ts";
import type { ApiState } from "./state/api-state.ts";
import { watchRequestOf } from "./watch/watch-request.ts";
import { WatchStream } from "./watch/watch-stream.ts";
import { applyObject } from "./write/apply-object.ts";
import { deleteObject, deletionOf } from "./write/delete-object.ts";
import { duplicateTexts } from "./write/duplicate-fields.ts";
import { ObjectWriter, type Written } from "./write/object-writer.ts";
import { APPLY, contentTypeOf, patchedObject } from "./write/patch-object.ts";
import { readObject, requirePatchedType, requirePlace } from "./write/read-object.ts";
import { answerScale } from "./write/scale.ts";
import { newByPut } from "./write/stale.ts";
import { writeOptionsOf } from "./write/write-options.ts";

/** Seconds after which a real server ends a watch that names no time: at least this, at most twice. */
const MIN_WATCH = 1_800_000;

/** Parts of the server. */
export interface ApiServerOptions {
  readonly state: ApiState;
  readonly clock: Clock;
  readonly random: Random;
  readonly served: readonly ServedResource[];
}

/** A request that the server has read. */
export interface ReadRequest {
  readonly query: URLSearchParams;

  /** The call of a resource. Undefined for other requests. */
  readonly call?: ApiCall;

  /** Carries the request out. */
  readonly respond: () => ApiResponse;
}

/** Checks the right to another verb on the same object. */
type RequireVerb = (verb: string) => void;

/** Responds to requests from the state, without any fault. */
export class ApiServer {
  readonly #state: ApiState;
  readonly #clock: Clock;
  readonly #random: Random;
  #served: readonly ServedResource[];
  readonly #writer: ObjectWriter;
  readonly #now = (): number => this.#clock.now();

  constructor(options: ApiServerOptions) {
    this.#served = options.served;
    this.#state = options.state;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#writer = new ObjectWriter(options);
  }

  /** Serves other resources from now on, as after a change of their definitions. */
  serve(served: readonly ServedResource[]): void {
    this.#served = served;
  }

  /**
   * Reads a request. Nothing happens before `respond` is called.
   *
   * @param rights - rights of the caller. Undefined: everything is allowed
   */
  read(request: KubeRequest, rights: Rights | undefined): ReadRequest {
    const path = parsePath(request.path);
    if (path === undefined) return { query: new URLSearchParams(), respond: () => NOTHING_THERE };
    const { query } = path;
    const wanted = attributesOf(request, path);
    const requireVerb = (verb: string): void => rights?.require({ ...wanted, verb });
    const refused = refusalOf(() => requireVerb(wanted.verb));
    const { call, respond } = this.#route(request, path, requireVerb);
    const answer = refused ? () => refused : respond;
    const old = call?.served.deprecation;
    return {
      query,
      ...(call && { call }),
      respond: () => (old ? warnedOf(answer(), old) : answer()),
    };
  }

  #route(
    request: KubeRequest,
    path: ParsedPath,
    requireVerb: RequireVerb,
  ): { readonly call?: ApiCall; readonly respond: () => ApiResponse } {
    try {
      const call = routeOf(request, path, this.#served);
      if (call !== undefined)
        return { call, respond: () => orRefusal(() => this.#respond(call, requireVerb)) };
      const found = discover(path.segments, this.#served);
      if (found === undefined) return { respond: () => NOTHING_THERE };
      // Checks of health are text, and take any method.
      const isTaken = request.method === "GET" || "text" in found;
      return { respond: () => (isTaken ? found : refusal(noSuchMethod())) };
    } catch (error) {
      return { respond: () => refusal(error) };
    }
  }

  #respond(call: ApiCall, requireVerb: RequireVerb): ApiResponse {
    requireReadable(call.body);
    const { scale } = call.served;
    if (call.subresource === "scale" && scale !== undefined)
      return { status: 200, json: answerScale(this.#writer, call, scale) };
    switch (call.verb) {
      case "get":
        return this.#get(call);
      case "list":
        return { status: 200, json: listObjects(this.#state, call, this.#now) };
      case "watch":
        return this.#watch(call);
      case "create":
        return this.#create(call);
      case "update":
        return this.#update(call, requireVerb);
      case "patch":
        return this.#patch(call, requireVerb);
      case "delete":
        return this.#delete(call);
      case "deletecollection":
        return { status: 200, json: this.#deleteCollection(call) };
    }
  }

  #get(call: ApiCall): ApiResponse {
    requireKnownVersion(call.query, this.#state.version);
    return { status: 200, json: this.#present(call, this.#writer.get(call)) };
  }

  #written(call: ApiCall, { object, isNew, warnings = [] }: Written): ApiResponse {
    const json = this.#present(call, object);
    return { status: isNew ? 201 : 200, json, headers: warningHeaders(warnings) };
  }

  #present(call: ApiCall, object: JsonObject): JsonObject {
    return representationOf(call, this.#now, false).object(object);
  }

  #watch(call: ApiCall): ApiResponse {
    const request = watchRequestOf(call);
    const longest = MIN_WATCH * (1 + this.#random());
    // Rejects a bad request before the head is sent, instead of in the stream.
    selectorOf(call);
    representationOf(call, this.#now, false);
    const [state, clock] = [this.#state, this.#clock];
    return {
      status: 200,
      watch: (body) => void new WatchStream({ state, clock, call, request, body, longest }),
    };
  }

  #create(call: ApiCall): ApiResponse {
    const options = writeOptionsOf(call, "CreateOptions");
    const submitted = readObject(call);
    const write = (): Written => this.#writer.create(call, submitted, options);
    const unknown = duplicateTexts(call);
    return this.#written(call, this.#writer.warned(call, submitted, { options, write, unknown }));
  }

  #update(call: ApiCall, requireVerb: RequireVerb): ApiResponse {
    const options = writeOptionsOf(call, "UpdateOptions");
    const submitted = readObject(call);
    const write = (): Written => {
      const { served, subresource } = call;
      const old = this.#writer.find(call);
      if (old !== undefined || !served.canPutNew || subresource !== undefined)
        return this.#writer.update(call, old ?? this.#writer.get(call), submitted, options);
      requireVerb("create");
      return this.#writer.create(call, newByPut(call, submitted), options);
    };
    const unknown = duplicateTexts(call);
    return this.#written(call, this.#writer.warned(call, submitted, { options, write, unknown }));
  }

  #patch(call: ApiCall, requireVerb: RequireVerb): ApiResponse {
    const isApply = contentTypeOf(call) === APPLY;
    const options = writeOptionsOf(call, "PatchOptions", isApply);
    // A subresource makes no object.
    const isNew =
      isApply && call.subresource === undefined && this.#writer.find(call) === undefined;
    if (isNew) requireVerb("create");
    if (isApply) return this.#written(call, applyObject(this.#writer, call, options));
    const old = this.#writer.get(call);
    const { object: patched, unknown } = patchedObject(call, old);
    requirePatchedType(call, patched);
    const submitted = requirePlace(call, decode(call, patched));
    const write = (): Written => this.#writer.update(call, old, submitted, options);
    return this.#written(call, this.#writer.warned(call, submitted, { options, write, unknown }));
  }

  #delete(call: ApiCall): ApiResponse {
    const deletion = deletionOf(call);
    const deleted = deleteObject(this.#writer, call, deletion);
    if (deleted["kind"] === "Status") return { status: 200, json: deleted };
    // A server accepts a wish for dependents' deletion, and promises nothing.
    return { status: deletion.keepsNone ? 202 : 200, json: this.#present(call, deleted) };
  }

  #deleteCollection(call: ApiCall): JsonObject {
    const deletion = deletionOf(call);
    const list = listObjects(this.#state, call, this.#now);
    for (const object of listPage(this.#state, call).objects) {
      const { name, namespace } = metadataOf(object) as { name: string; namespace?: string };
      deleteObject(this.#writer, { ...call, name, namespace }, deletion);
    }
    return list;
  }
}

/** The response for work that fails. Undefined if it does not. */
function refusalOf(work: () => void): ApiResponse | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return refusal(error);
  }
}

function orRefusal(work: () => ApiResponse): ApiResponse {
  try {
    return work();
  } catch (error) {
    return refusal(error);
  }
}

/** The response for a failure. Other errors are bugs, of FakeApi or of a library, and a 500 that says so. */
function refusal(error: unknown): ApiResponse {
  const failure = error instanceof Failure ? error : internalError(error);
  const { code: status, status: json, delay, warnings } = failure;
  return { status, json, headers: warningHeaders(warnings), ...(delay && { delay }) };
}

/** A response with one more warning, the first. */
function warnedOf(response: ApiResponse, text: string): ApiResponse {
  const { warning } = warningHeaders([text]) as { warning: string };
  const given = response.headers?.["warning"];
  const all = given === undefined ? warning : `${warning}, ${given}`;
  return { ...response, headers: { ...response.headers, warning: all } };
}

function warningHeaders(warnings: readonly string[]): Record<string, string> {
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return warning === "" ? {} : { warning };
}

const NOTHING_THERE: ApiResponse = { status: 404, text: "404 page not found\n" };
