import { onAbort } from "@holdfast/clock";
import type { ProgramContext, StepOptions } from "@holdfast/controller/testing";
import type { KubeRequest, KubeResponse, KubeTransport } from "../../transport/kube-transport.ts";
import { connectionError } from "../connection-error.ts";
import type { FakeApi } from "../fake-api.ts";
import type { Fault } from "../faults.ts";

/** Milliseconds by which a late event comes later. */
const LATE_BY = 60_000;

/** Objects of these kinds come and go by themselves: their requests are no steps. */
const ASIDE = new Set(["leases", "events"]);

type Program = Pick<ProgramContext<unknown>, "step" | "crashed" | "awake" | "clock">;

/** A request as a step. */
interface RequestStep {
  readonly kind: "write" | "list" | "watch";
  readonly resource: string;
  readonly text: string;
}

/**
 * The way of one replica to the server. Its writes, lists, watches and their events are steps. After a crash it is
 * silent.
 */
export class ExploredTransport implements KubeTransport {
  readonly description: string;
  readonly #api: FakeApi;
  readonly #program: Program;

  constructor(api: FakeApi, program: Program) {
    this.description = api.transport.description;
    this.#api = api;
    this.#program = program;
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
    const { step } = this.#program;
    const perform = (): Promise<KubeResponse> => this.#api.transport.send(request, signal);
    const own = stepOf(request);
    if (own === undefined) return await this.#aside(perform);
    const { kind, text } = own;
    if (kind === "write") return await step({ text, faults: this.#writeFaults() }, perform);
    return await step({ text, crashes: ["after"] }, perform);
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

  #writeFaults(): NonNullable<StepOptions<KubeResponse>["faults"]> {
    const meet = (fault: Fault) => async (perform: () => Promise<KubeResponse>) => {
      using _rule = this.#api.intercept({ fault, times: 1 });
      return await perform();
    };
    return {
      "response-lost": meet({ type: "drop" }),
      conflict: meet({ type: "status", status: 409 }),
      "server-error": meet({ type: "status", status: 500 }),
      "too-many-requests": meet({ type: "status", status: 429, retryAfter: 1 }),
    };
  }

  /** The body, until the crash. The events of a watch are steps. */
  async *#body(
    request: KubeRequest,
    body: AsyncIterable<Uint8Array>,
    { signal, close }: { readonly signal: AbortSignal; readonly close: () => void },
  ): AsyncGenerator<Uint8Array> {
    const { awake } = this.#program;
    const own = stepOf(request);
    try {
      for await (const chunk of body) {
        if (own?.kind === "watch") await this.#deliver(chunk, own, { request, signal });
        await awake();
        yield chunk;
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
  ): Promise<void> {
    const { step, clock } = this.#program;
    const { type, object } = JSON.parse(new TextDecoder().decode(chunk)) as WatchLine;
    if (type === "BOOKMARK") return;
    const text = `EVENT ${type} ${resource} ${nameOf(object?.metadata ?? {})}`;
    const faults = {
      "event-late": async (): Promise<void> =>
        await clock.sleep(LATE_BY, { label: "late event", signal }),
      "events-lost": async (): Promise<void> => {
        this.#api.compact();
        throw connectionError("ECONNRESET", request);
      },
    };
    await step({ text, crashes: [], faults }, async () => {});
  }
}

interface WatchLine {
  readonly type: string;
  readonly object?: { readonly metadata?: { readonly namespace?: string; readonly name?: string } };
}

/** The step that a request is; none for reads of one object, for probes, Leases and Events. */
function stepOf({ method, path }: KubeRequest): RequestStep | undefined {
  const { pathname, searchParams } = new URL(path, "http://server");
  const { plural, namespace, name, subresource } = placeOf(pathname);
  if (ASIDE.has(plural)) return undefined;
  const kind = method === "GET" ? readOf(name, searchParams) : "write";
  if (kind === undefined) return undefined;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const verb = kind === "write" ? method : kind.toUpperCase();
  return { kind, resource, text: `${verb} ${resource} ${nameOf({ namespace, name })}`.trimEnd() };
}

function placeOf(pathname: string) {
  const parts = pathname.split("/").slice(pathname.startsWith("/api/") ? 3 : 4);
  const isNamespaced = parts[0] === "namespaces" && parts.length > 2;
  const namespace = isNamespaced ? parts.splice(0, 2)[1] : undefined;
  const [plural = "", name, subresource] = parts;
  return { plural, namespace, name, subresource };
}

function readOf(name: string | undefined, query: URLSearchParams): "list" | "watch" | undefined {
  if (name !== undefined) return undefined;
  if (query.has("watch")) return "watch";
  return query.get("limit") === "1" ? undefined : "list";
}

function nameOf(ref: {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}) {
  return [ref.namespace, ref.name].filter((part) => part !== undefined).join("/");
}
