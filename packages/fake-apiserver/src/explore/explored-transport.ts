import { onAbort } from "@holdfast/clock";
import type { ProgramContext, StepOptions, StepOutcome } from "@holdfast/explore";
import type { KubeRequest, KubeResponse, KubeTransport, Resource } from "@holdfast/kubernetes";
import { connectionError } from "../server/connection-error.ts";
import type { Fault, HookFault } from "../server/faults.ts";
import { dropsStatus } from "./dropped-status.ts";
import type { ExploredApi } from "./explored-api.ts";
import { hasSharedConditions, writeForeignCondition } from "./foreign-condition.ts";

/** Milliseconds by which a late event comes later. */
const LATE_BY = 60_000;

/** Objects of these kinds come and go by themselves: their requests are no steps, but for moves of slots. */
const ASIDE = new Set(["leases", "events"]);

type Program = Pick<ProgramContext<unknown>, "step" | "crashed" | "awake" | "clock">;

/** A request as a step. */
interface RequestStep {
  readonly kind: "write" | "get" | "list" | "watch";
  readonly resource: string;
  readonly text: string;
  /** Whether it is about an object itself, and no subresource of it. */
  readonly isOfObject: boolean;
  /** Whether it is about a status. */
  readonly isOfStatus: boolean;
  /** Whether it is a JSON patch with a condition, as those of `finalize`. */
  readonly hasTest: boolean;
  /** Whether it asks for a page of a list after the first. */
  readonly isLaterPage: boolean;
}

const READS: Readonly<Record<string, Fault>> = {
  "response-lost": { type: "drop" },
  "server-error": { type: "status", status: 500 },
};
const PAGES: Readonly<Record<string, Fault>> = {
  ...READS,
  expired: { type: "status", status: 410 },
};
const WRITES: Readonly<Record<string, Fault>> = {
  ...READS,
  conflict: { type: "status", status: 409 },
  "too-many-requests": { type: "status", status: 429, retryAfter: 1 },
};

/** A server whose object has changed refuses a JSON patch so. */
const TESTED: Readonly<Record<string, Fault>> = {
  ...WRITES,
  "test-failed": { type: "status", status: 422, reason: "Invalid" },
};

/**
 * The way of one replica to the server. Its writes, lists, watches and their events are steps. After a crash it is
 * silent.
 */
export class ExploredTransport implements KubeTransport {
  readonly description: string;
  readonly #api: ExploredApi;
  readonly #program: Program;
  readonly #hasSlots: boolean;
  /** Resources with conditions of several controllers, by plural. */
  readonly #shared: ReadonlyMap<string, Resource>;

  constructor(api: ExploredApi, program: Program, { hasSlots, resources }: ExploredServer) {
    this.description = api.transport.description;
    this.#api = api;
    this.#program = program;
    this.#hasSlots = hasSlots;
    const shared = resources.filter(hasSharedConditions);
    this.#shared = new Map(shared.map((resource) => [resource.plural, resource]));
  }

  readonly send = async (request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> => {
    const { crashed, awake } = this.#program;
    const connection = new AbortController();
    const ends = [signal, crashed].map((one) => onAbort(one, (cause) => connection.abort(cause)));
    const close = (): void => {
      for (const end of ends) end[Symbol.dispose]();
    };
    try {
      const response = await this.#perform(request, connection.signal);
      const end = { signal: connection.signal, close };
      return { ...response, body: this.#body(request, response.body, end) };
    } catch (error) {
      close();
      await awake();
      throw error;
    }
  };

  async #perform(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const { step, clock } = this.#program;
    const perform = (): Promise<KubeResponse> => this.#api.transport.send(request, signal);
    const own = stepOf(request, this.#hasSlots);
    if (own === undefined) return await this.#aside(perform);
    const { kind, text } = own;
    if (kind === "write" || kind === "get") {
      const whole = async (): Promise<WholeResponse> => {
        const response = await readWhole(await perform());
        if (own.isOfObject && response.status < 300 && dropsStatus(request, response.text))
          this.#api.problem ??= `${text} has a status that the server drops: write it with { subresource: "status" }`;
        return response;
      };
      const outcomeOf = (response: WholeResponse): StepOutcome => outcomeIn(response, request);
      const writes = own.hasTest ? TESTED : WRITES;
      const faults = {
        ...this.#faults<WholeResponse>(kind === "write" ? writes : READS),
        ...this.#hookFaults<WholeResponse>(request),
      };
      const read = kind === "get" && { crashes: [], reads: true };
      const options = { text, faults, outcomeOf, reports: own.isOfStatus, ...read };
      return await step<WholeResponse>(options, whole);
    }
    const pages = own.isLaterPage ? PAGES : READS;
    const faults =
      kind === "watch"
        ? {}
        : { ...this.#faults<KubeResponse>(pages), ...this.#hookFaults<KubeResponse>(request) };
    const outcomeOf = ({ status }: KubeResponse): StepOutcome => ({ text: `${status}` });
    const since = kind === "list" ? clock.monotonic() - 1 : undefined; // users may write at this instant, and later
    const options = { text, crashes: ["after"], faults, reads: true, outcomeOf, since } as const;
    return await step<KubeResponse>(options, perform);
  }

  /** A request that is no step: of a replica that stands still, it waits. */
  async #aside(perform: () => Promise<KubeResponse>): Promise<KubeResponse> {
    const { awake } = this.#program;
    await awake();
    try {
      return await perform();
    } finally {
      await awake();
    }
  }

  /** The faults of the webhooks and of the conversion of a request. */
  #hookFaults<Response>(request: KubeRequest): NonNullable<StepOptions<Response>["faults"]> {
    const hooks = this.#api.hooksFor(request);
    const webhooks = hooks.filter((hook) => "review" in hook);
    const converted = hooks.filter((hook) => !("review" in hook));
    const meet =
      (broken: typeof hooks, fault: HookFault) => async (perform: () => Promise<Response>) => {
        const rules = broken.map((hook) => this.#api.intercept({ hook, fault }));
        try {
          return await perform();
        } finally {
          for (const rule of rules) rule[Symbol.dispose]();
        }
      };
    return {
      ...(webhooks.length > 0 && {
        "webhook-down": meet(webhooks, { type: "down" }),
        "webhook-slow": meet(webhooks, { type: "slow" }),
        "webhook-refuses": meet(webhooks, { type: "refuses" }),
      }),
      ...(converted.length > 0 && { "conversion-down": meet(converted, { type: "down" }) }),
    };
  }

  #faults<Response>(
    types: Readonly<Record<string, Fault>>,
  ): NonNullable<StepOptions<Response>["faults"]> {
    const meet = (fault: Fault) => async (perform: () => Promise<Response>) => {
      using _rule = this.#api.intercept({ fault, times: 1 });
      return await perform();
    };
    return Object.fromEntries(Object.entries(types).map(([type, fault]) => [type, meet(fault)]));
  }

  /** The body, until the crash. The events of a watch are steps. */
  async *#body(
    request: KubeRequest,
    body: AsyncIterable<Uint8Array>,
    { signal, close }: { readonly signal: AbortSignal; readonly close: () => void },
  ): AsyncGenerator<Uint8Array> {
    const { awake } = this.#program;
    const own = stepOf(request, this.#hasSlots);
    try {
      for await (const chunk of body) {
        const line =
          own?.kind === "watch" ? await this.#deliver(chunk, own, { request, signal }) : chunk;
        await awake();
        yield line;
      }
    } catch (error) {
      await awake();
      throw error;
    } finally {
      close();
    }
  }

  async #deliver(
    chunk: Uint8Array,
    { resource }: RequestStep,
    { request, signal }: { readonly request: KubeRequest; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    const { step, clock } = this.#program;
    const { type, object } = JSON.parse(new TextDecoder().decode(chunk)) as WatchLine;
    if (type === "BOOKMARK") return chunk;
    const shared = type === "ADDED" ? this.#shared.get(resource) : undefined;
    const text = `EVENT ${type} ${resource} ${nameOf(object?.metadata ?? {})}`;
    const faults = {
      "event-late": async (): Promise<Uint8Array> => {
        await clock.sleep(LATE_BY, { label: "late event", signal });
        return chunk;
      },
      "events-lost": async (): Promise<Uint8Array> => {
        this.#api.compact();
        throw connectionError("ECONNRESET", request);
      },
      ...(shared && {
        "foreign-condition": async (): Promise<Uint8Array> => {
          const { name = "", namespace } = object?.metadata ?? {};
          const ref = namespace === undefined ? { name } : { name, namespace };
          const written = await writeForeignCondition(this.#api, shared, ref, clock.now());
          // The operator sees the object with the condition only.
          return written === undefined ? chunk : lineOf({ type, object: written });
        },
      }),
    };
    const outcomeOf = (): StepOutcome => ({ text: "" });
    const since = this.#api.changedAt.get(object?.metadata?.resourceVersion ?? "");
    const options = { text, crashes: [], faults, reads: true, outcomeOf, since } as const;
    return await step<Uint8Array>(options, async () => chunk);
  }
}

/** The server as the operators of a world see it. */
export interface ExploredServer {
  /** Whether the writes of Leases that move a slot are steps. */
  readonly hasSlots: boolean;
  readonly resources: readonly Resource[];
}

function lineOf(event: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(event)}\n`);
}

interface WatchLine {
  readonly type: string;
  readonly object?: {
    readonly metadata?: Readonly<Partial<Record<"namespace" | "name" | "resourceVersion", string>>>;
  };
}

/** The step that a request is; none for probes, Leases and Events. */
function stepOf(request: KubeRequest, hasSlots: boolean): RequestStep | undefined {
  const { method, path, body } = request;
  const { pathname, searchParams } = new URL(path, "http://server");
  const { plural, namespace, name, subresource, isOfObject } = placeOf(pathname);
  if (ASIDE.has(plural) && !(hasSlots && movesSlot(request))) return undefined;
  const kind = method === "GET" ? readOf(name, searchParams) : "write";
  if (kind === undefined) return undefined;
  const resource = [plural, subresource].filter((part) => part !== undefined).join("/");
  const verb = kind === "write" ? method : kind.toUpperCase();
  const ref = { namespace, name: name ?? (method === "POST" ? nameIn(body) : undefined) };
  const isLaterPage = searchParams.has("continue");
  const page = isLaterPage ? " (next page)" : "";
  return {
    kind,
    resource,
    isLaterPage,
    isOfObject,
    isOfStatus: subresource === "status",
    hasTest: isTested(method, body),
    text: `${verb} ${resource} ${nameOf(ref)}`.trimEnd() + page,
  };
}

/** The part of a Lease that tells a move from a renewal. */
interface Lease {
  readonly metadata?: { readonly name?: string };
  readonly spec?: Readonly<Partial<Record<"holderIdentity" | "acquireTime" | "renewTime", string>>>;
}

/** Whether a request takes or releases the Lease of a slot or of a wish. A renewal changes its time alone. */
function movesSlot({ method, body = "{}" }: KubeRequest): boolean {
  if (method === "GET") return false;
  const { metadata = {}, spec = {} } = JSON.parse(body) as Lease;
  const { holderIdentity, acquireTime, renewTime } = spec;
  const isRenewal = acquireTime?.slice(0, -4) !== renewTime?.slice(0, -4); // microseconds have no meaning
  return /-(slot|wish)-\d+$/.test(metadata.name ?? "") && (!holderIdentity || !isRenewal);
}

/** Whether a JSON patch applies only if a value is as expected. */
function isTested(method: string, body = ""): boolean {
  return method === "PATCH" && /^\s*\[.*"op":"test"/s.test(body);
}

/** The name that a new object asks for. */
function nameIn(body: string | undefined): string | undefined {
  const { name, generateName } = metadataIn(body);
  return name ?? (generateName && `${generateName}*`);
}

function metadataIn(text = "{}"): { readonly name?: string; readonly generateName?: string } {
  try {
    return (JSON.parse(text) as { metadata?: object }).metadata ?? {};
  } catch {
    return {};
  }
}

function placeOf(pathname: string) {
  const parts = pathname.split("/").slice(pathname.startsWith("/api/") ? 3 : 4);
  const isNamespaced = parts[0] === "namespaces" && parts.length > 2;
  const namespace = isNamespaced ? parts.splice(0, 2)[1] : undefined;
  const [plural = "", name, subresource] = parts;
  const isOfObject = name !== undefined && subresource === undefined;
  return { plural, namespace, name, subresource, isOfObject };
}

function readOf(
  name: string | undefined,
  query: URLSearchParams,
): "get" | "list" | "watch" | undefined {
  if (name !== undefined) return "get";
  if (query.has("watch")) return "watch";
  return query.get("limit") === "1" && !query.has("continue") ? undefined : "list";
}

/** A response whose body was read. */
interface WholeResponse extends KubeResponse {
  readonly text: string;
}

async function readWhole({ body, ...head }: KubeResponse): Promise<WholeResponse> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const decoder = new TextDecoder();
  const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
  async function* again(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  return { ...head, text, body: again() };
}

/** Status and reason of a response, and the name of a new object whose name was generated. */
function outcomeIn({ status, text }: WholeResponse, { method, body }: KubeRequest): StepOutcome {
  if (status >= 400) {
    const reason = /"reason":"(\w+)"/.exec(text)?.[1];
    return { text: reason === undefined ? `${status}` : `${status} ${reason}`, isRefused: true };
  }
  const isGenerated = method === "POST" && metadataIn(body).name === undefined;
  const { name } = isGenerated ? metadataIn(text) : {};
  return { text: name === undefined ? `${status}` : `${status} ${name}` };
}

function nameOf(ref: {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}) {
  return [ref.namespace, ref.name].filter((part) => part !== undefined).join("/");
}
