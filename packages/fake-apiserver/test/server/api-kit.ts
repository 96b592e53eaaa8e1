// A FakeApi on a fake clock, and requests to it.

import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type FakeApiOptions } from "@holdfast/fake-apiserver";
import { builtIn, fromCrd, type KubeObject, type Resource } from "@holdfast/kubernetes";
import { crdOf } from "../../../../test/crd.ts";

/** An object as it arrives. */
export interface Body {
  readonly kind: string;
  readonly metadata: { readonly [name: string]: unknown };
  readonly items: readonly Body[];
  readonly [name: string]: unknown;
}

export const ConfigMap: Resource = builtIn("v1", "ConfigMap");
const Lease: Resource = builtIn("coordination.k8s.io/v1", "Lease");
const Event: Resource = builtIn("events.k8s.io/v1", "Event");
const widgetCrd = crdOf({
  kind: "Widget",
  names: { singular: "widget" },
  version: { subresources: { status: {} } },
  properties: {
    spec: {
      type: "object",
      properties: {
        color: { type: "string" },
        size: { type: "integer", default: 1 },
        tags: {
          type: "array",
          items: { type: "string" },
          "x-kubernetes-list-type": "set",
        },
        steps: { type: "array", items: { type: "string" } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, port: { type: "integer" } },
          },
        },
      },
    },
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
});
export const Widget: Resource<KubeObject> = fromCrd(widgetCrd);
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const WIDGETS = "/apis/example.org/v1/namespaces/default/widgets";

export function configMap(name: string, data?: object, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function widget(
  name: string,
  spec: object = { color: "red" },
  metadata: object = {},
): object {
  return { apiVersion: "example.org/v1", kind: "Widget", metadata: { name, ...metadata }, spec };
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export class ApiKit {
  readonly clock = new FakeClock();
  readonly api: FakeApi;

  constructor(options: Partial<FakeApiOptions> = {}) {
    const resources = [ConfigMap, Lease, Event, Widget];
    this.api = new FakeApi({ clock: this.clock, resources, ...options });
  }

  async open(method: string, path: string, { body, headers = {}, signal }: Sent = {}) {
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const request = { method, path, headers, body: text as string | undefined };
    return this.api.transport.send(request, signal ?? new AbortController().signal);
  }

  /** Sends a request and reads its answer. */
  async send(method: string, path: string, sent: Sent = {}) {
    const { status, headers, body } = await this.open(method, path, sent);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const isJson = headers["content-type"] === "application/json";
    return { status, headers, text, body: (isJson ? JSON.parse(text) : undefined) as Body };
  }

  mergePatch(path: string, body: unknown) {
    return this.send("PATCH", path, {
      body,
      headers: { "content-type": "application/merge-patch+json" },
    });
  }

  jsonPatch(path: string, body: unknown) {
    return this.send("PATCH", path, {
      body,
      headers: { "content-type": "application/json-patch+json" },
    });
  }

  /** Watches, and collects the events until the watch ends. */
  async watch(path: string, query = "", sent: Sent = {}): Promise<Watched> {
    const { status, body } = await this.open("GET", `${path}?watch=1${query && `&${query}`}`, sent);
    const events: WatchEvent[] = [];
    let end: unknown = "open";
    const reading = (async () => {
      let rest = "";
      try {
        for await (const chunk of body) {
          const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
          rest = lines.pop() as string;
          events.push(...lines.map((line) => JSON.parse(line)));
        }
        end = "closed";
      } catch (error) {
        end = error;
      }
    })();
    return { status, events, reading, end: () => end };
  }
}

/** An event of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

export interface Watched {
  readonly status: number;
  readonly events: WatchEvent[];
  readonly reading: Promise<void>;
  end(): unknown;
}

/** Events as `TYPE name version`. */
export function brief(events: readonly WatchEvent[]): string[] {
  return events.map(
    ({ type, object }) =>
      `${type} ${object.metadata["name"] ?? "-"} ${object.metadata["resourceVersion"] ?? "-"}`,
  );
}

/** Lets everything happen that happens without time passing. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Names of the items of a list. */
export function namesOf({ items }: Body): unknown[] {
  return items.map(({ metadata }) => metadata["name"]);
}
