// The webhooks of one request.

import type { Webhook } from "@holdfast/kubernetes";
import {
  isEqual,
  isObject,
  type JsonObject,
  metadataOf,
  own,
  stringsOf,
} from "../../object/json.ts";
import { badRequest, Failure, internalFailure } from "../failure.ts";
import type { HookFaults } from "../faults.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { readJsonPatch } from "../patch/json-patch-operations.ts";
import type { Admission, ApiCall, Reviewed } from "../request/api-call.ts";
import { asServed } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { Objects } from "../write/objects.ts";
import { ask, patchIn, WebhookError } from "./ask.ts";
import type { HookContext } from "./hook-cluster.ts";
import { meetsConditions, reviewedVersion, selectsNamespace, selectsObject } from "./matching.ts";
import { requestOf } from "./review-request.ts";

/** What the webhooks of a server share. */
export interface AdmissionOptions {
  readonly objects: Objects;
  readonly hooks: readonly Webhook[];
  readonly served: readonly ServedResource[];
  readonly faults: HookFaults;
  readonly context: HookContext | undefined;

  /** Ends all waits of the request. */
  readonly signal: AbortSignal;
}

/** The admission of one request by webhooks. */
export class WebhookAdmission implements Admission {
  readonly #options: AdmissionOptions;
  readonly #warnings: string[];

  /** @param warnings - gets the texts of the webhooks for the writer */
  constructor(options: AdmissionOptions, warnings: string[]) {
    this.#options = options;
    this.#warnings = warnings;
  }

  /** One after the other. Those with `IfNeeded` are asked again if a later one has changed the object. */
  async mutate(
    call: ApiCall,
    given: Reviewed,
    read: (object: JsonObject) => JsonObject,
  ): Promise<JsonObject> {
    let object = given.object;
    const hooks = this.#hooks("mutating");
    const earlier = new Set<Webhook>();
    const again = new Set<Webhook>();
    const round = async (asked: readonly Webhook[]): Promise<void> => {
      for (const hook of asked) {
        if (asked !== hooks && !again.has(hook)) continue;
        const request = this.#requestFor(hook, call, { ...given, object });
        if (request === undefined) continue;
        const patched = await this.#patched(hook, { call, request, object, read });
        if (!isEqual(patched, object)) {
          for (const one of earlier) again.add(one);
          earlier.clear();
        }
        object = patched;
        if (hook.configuration.reinvocationPolicy === "IfNeeded") earlier.add(hook);
      }
    };
    await round(hooks);
    if (again.size > 0) await round([...hooks]);
    return object as JsonObject;
  }

  /** All at once. */
  async validate(call: ApiCall, given: Reviewed): Promise<void> {
    const asked = this.#hooks("validating").flatMap((hook) => {
      const request = this.#requestFor(hook, call, given);
      return request === undefined ? [] : [{ hook, request }];
    });
    const errors: unknown[] = [];
    const answers = asked.map(({ hook, request }) =>
      this.#answer(hook, request).catch((error: unknown) => void errors.push(error)),
    );
    await Promise.all(answers);
    if (errors.length > 0) throw errors[0];
  }

  #hooks(type: string): readonly Webhook[] {
    return this.#options.hooks.filter(({ configuration }) => configuration.type === type);
  }

  /** The review for a webhook. Undefined if it is not asked. */
  #requestFor(hook: Webhook, call: ApiCall, reviewed: Reviewed): JsonObject | undefined {
    const { served: versions, objects } = this.#options;
    const { object, old, operation, options } = reviewed;
    const asked = { served: call.served, subresource: call.subresource, operation };
    const version = reviewedVersion(hook, asked, versions);
    if (version === undefined || !selectsNamespace(hook, this.#namespaceLabels(call, reviewed)))
      return undefined;
    if (!selectsObject(hook, [object, old])) return undefined;
    const request = requestOf(call, reviewed, version, objects.random);
    if (!meetsConditions(hook, request, { served: call.served, name: reviewed.name }))
      return undefined;
    const { name, sideEffects = "None" } = hook.configuration;
    if (options.isDryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun")
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    return request;
  }

  /** The labels by which namespaces are selected. Undefined for an object of the cluster. */
  #namespaceLabels(
    { served, namespace }: ApiCall,
    { object, old }: Reviewed,
  ): JsonObject | undefined {
    const isNamespace = served.storeKey === "/namespaces";
    if (namespace === undefined && !isNamespace) return undefined;
    const found = isNamespace
      ? (object ?? old)
      : this.#options.objects.state.store("/namespaces").get(namespace as string);
    const labels = own(metadataOf(found ?? {}), "labels");
    return { "kubernetes.io/metadata.name": namespace, ...(isObject(labels) && labels) };
  }

  async #patched(
    hook: Webhook,
    {
      call: { served },
      request,
      object,
      read,
    }: {
      readonly call: ApiCall;
      readonly request: JsonObject;
      readonly object: JsonObject | null;
      readonly read: (object: JsonObject) => JsonObject;
    },
  ): Promise<JsonObject | null> {
    const response = await this.#answer(hook, request);
    const patch = response && this.#orPassed(hook, () => patchIn(response));
    if (patch === undefined) return object;
    try {
      const patched = jsonPatch(request["object"], readJsonPatch(patch).operations);
      if (!isObject(patched)) throw new Error("the patch leaves no object");
      return read(asServed(served, patched));
    } catch (error) {
      throw error instanceof Failure ? error : internalFailure((error as Error).message);
    }
  }

  /** The answer of a webhook that allows the request. Undefined if it has none, and may have none. */
  async #answer(hook: Webhook, request: JsonObject): Promise<JsonObject | undefined> {
    const { objects, signal, context, faults } = this.#options;
    const options = { clock: objects.clock, signal, context, nextFault: () => faults.find(hook) };
    let response: JsonObject;
    try {
      response = await ask(hook, request, options);
    } catch (error) {
      return this.#orPassed(hook, () => {
        throw error;
      });
    }
    this.#warnings.push(...stringsOf(response["warnings"]));
    if (response["allowed"] !== true) throw denial(hook, response["status"]);
    return response;
  }

  /** What `work` returns; undefined for a failure of a webhook that may fail. */
  #orPassed<Value>({ configuration }: Webhook, work: () => Value): Value | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      if (configuration.failurePolicy === "Ignore") return undefined;
      const name = JSON.stringify(configuration.name);
      throw internalFailure(`failed calling webhook ${name}: ${error.message}`);
    }
  }
}

/** The least status of a refusal. */
const LEAST = 400;

function denial({ configuration: { name } }: Webhook, status: unknown): Failure {
  const { code, message, reason, details } = isObject(status) ? status : ({} as JsonObject);
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = message || reason ? `: ${message || reason}` : " without explanation";
  return new Failure(Math.max(typeof code === "number" ? code : 0, LEAST), {
    message: `${by}${why}`,
    ...(typeof reason === "string" && { reason }),
    ...(isObject(details) && { details }),
  });
}
