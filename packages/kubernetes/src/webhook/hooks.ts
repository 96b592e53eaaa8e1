import { isThenable, read, requireFunction, requireObject, requireSignal } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { KubeObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import {
  configurationOf,
  MUTATING_OPTIONS,
  type MutatingOptions,
  VALIDATING_OPTIONS,
  type ValidatingOptions,
} from "./hook-options.ts";
import {
  type Handler,
  mutated,
  type Reviewed,
  requireRequest,
  reviewOf,
  validated,
} from "./review.ts";
import type { Webhook, WebhookCaller, WebhookContext } from "./webhook.ts";

/**
 * A webhook that checks objects before they are stored: for what a schema and rules in CEL cannot say. Pass it to
 * `runOperator`, to `holdfast-kubernetes manifests`, and to a `FakeApi`.
 *
 * | The handler | The writer gets |
 * | --- | --- |
 * | returns nothing, or no causes | the answer of the API server |
 * | returns causes | 422 `Invalid` with them |
 * | throws, or rejects | 500 `InternalError` without the text of the error, which is logged |
 * | has no answer in time | 500, or with `failurePolicy: "Ignore"` the answer of the API server |
 *
 * @param resource - the resource. Objects of its other versions are converted before
 * @param options - see {@link ValidatingOptions}
 * @returns the webhook
 * @throws TypeError or RangeError that names the option
 *
 * @example
 * ```ts
 * import { customResource, type KubeObject, validating } from "@holdfast/kubernetes";
 *
 * interface CronTaskObject extends KubeObject { spec: { schedule: string } }
 * const CronTask = customResource<CronTaskObject>({
 *   apiVersion: "batch.example.org/v1", kind: "CronTask", plural: "crontasks",
 * });
 * const check = validating(CronTask, {
 *   handle({ object }) {
 *     if (object.spec.schedule.split(" ").length === 5) return [];
 *     return [{ field: "spec.schedule", message: "must have five fields" }];
 *   },
 * });
 * const object = { metadata: { name: "ann" }, spec: { schedule: "daily" } };
 * const { signal } = new AbortController();
 * const { allowed } = await check.review({ uid: "1", operation: "CREATE", object }, { signal });
 * console.log(check.configuration.name, allowed); // => validate.crontasks.batch.example.org false
 * ```
 */
export function validating<T extends KubeObject>(
  resource: Resource<T, KubeObject>,
  options: ValidatingOptions<T>,
): Webhook {
  requireResource(resource);
  const given = read("options", options, "validating", VALIDATING_OPTIONS as never);
  return hookOf("validating", resource as never, given as never);
}

/**
 * A webhook that changes objects before they are checked and stored: for defaults that depend on other fields. Pass it to
 * `runOperator`, to `holdfast-kubernetes manifests`, and to a `FakeApi`.
 *
 * The handler changes a copy of the object as it was sent; what it changes becomes a patch, and fields that it does not know
 * stay. It must not count on the schema, which is checked afterwards. The fields that it sets belong to no field manager.
 *
 * | The handler | The writer gets |
 * | --- | --- |
 * | changes the object, or does not | the answer of the API server, which checks the changed object |
 * | changes `apiVersion`, `kind`, or metadata of the server such as the name | 500 `InternalError`; the log names the field |
 * | throws, or rejects | 500 `InternalError` without the text of the error, which is logged; 422 of the API server for an object that its schema refuses |
 *
 * @param resource - the resource. Objects of its other versions are converted before
 * @param options - see {@link MutatingOptions}
 * @returns the webhook
 * @throws TypeError or RangeError that names the option
 *
 * @example
 * ```ts
 * import { customResource, type KubeObject, mutating } from "@holdfast/kubernetes";
 *
 * interface CronTaskObject extends KubeObject { spec: { suspend?: boolean } }
 * const CronTask = customResource<CronTaskObject>({
 *   apiVersion: "batch.example.org/v1", kind: "CronTask", plural: "crontasks",
 * });
 * const fill = mutating(CronTask, {
 *   handle({ object }) {
 *     object.spec.suspend ??= false;
 *   },
 * });
 * const object = { metadata: { name: "ann" }, spec: {} };
 * const { signal } = new AbortController();
 * const { patch = "" } = await fill.review({ uid: "1", operation: "CREATE", object }, { signal });
 * console.log(Buffer.from(patch, "base64").toString());
 * // => [{"op":"add","path":"/spec/suspend","value":false}]
 * ```
 */
export function mutating<T extends KubeObject>(
  resource: Resource<T, KubeObject>,
  options: MutatingOptions<T>,
): Webhook {
  requireResource(resource);
  const given = read("options", options, "mutating", MUTATING_OPTIONS as never);
  return hookOf("mutating", resource as never, given as never);
}

interface Work {
  readonly handle?: Handler | undefined;
  readonly setup?: ((context: WebhookContext) => Handler) | undefined;
}

function hookOf(
  type: "validating" | "mutating",
  resource: Resource<never, never>,
  options: ValidatingOptions & MutatingOptions & Work,
): Webhook {
  const { handle, setup } = options as Work;
  if ((handle === undefined) === (setup === undefined))
    throw new TypeError(
      `options must have handle or setup, got ${handle === undefined ? "neither" : "both"}`,
    );
  const configuration = Object.freeze(configurationOf(type, resource, options));
  const onSpec = configuration.matchConditions?.some(({ name }) => name === "spec") === true;
  const subject = { resource, configuration, onSpec };
  const handlers = new WeakMap<object, Handler>();
  const handlerFor = (context: WebhookContext): Handler => {
    const known = handle ?? handlers.get(context);
    if (known !== undefined) return known;
    const made: unknown = setup?.(context);
    if (isThenable(made)) {
      void Promise.resolve(made).catch(() => undefined);
      throw new TypeError("options.setup must return handle, got a Promise");
    }
    requireFunction("the result of options.setup", made);
    handlers.set(context, made as Handler);
    return made as Handler;
  };
  const answer = type === "validating" ? validated : mutated;
  const hook: Webhook & { readonly prepare: (context: WebhookContext) => void } = {
    configuration,
    async review(request, caller) {
      requireRequest(request);
      requireCaller(caller);
      const reviewed: Reviewed = { ...subject, request, caller, handlerFor };
      return await reviewOf(reviewed, answer);
    },
    prepare: (context) => void handlerFor(context),
  };
  // Informers that `setup` declares must be there before the caches start.
  Object.defineProperty(hook, "prepare", { enumerable: false });
  return Object.freeze(hook);
}

/** A caller of our own makes its signal when it is asked for it. */
function requireCaller(caller: WebhookCaller): void {
  requireObject("caller", caller);
  if (Object.hasOwn(caller, "signal")) requireSignal("caller.signal", caller.signal);
  else if (!("signal" in caller)) requireSignal("caller.signal", undefined as never);
}

/** Calls the `setup` of a webhook, if it has one. */
export function prepare(hook: Webhook, context: WebhookContext): void {
  (hook as { prepare?: (context: WebhookContext) => void }).prepare?.(context);
}
