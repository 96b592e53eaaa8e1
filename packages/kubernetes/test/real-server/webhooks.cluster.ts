import { type Clock, realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  builtIn,
  fromCrd,
  isApiError,
  type KubeClient,
  type KubeObject,
  mutating,
  runOperator,
  validating,
} from "@holdfast/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { crdOf } from "../../../../test/crd.ts";
import { addressed, webhookManifests } from "../../src/webhook/webhook-manifests.ts";
import { NamedCluster } from "./named-cluster.ts";

const GROUP = "hooks.holdfast.test";
const SERVICE = "hooks";

interface TaskV1 extends KubeObject {
  spec: { schedule: string; size?: number };
}
interface TaskV2 extends KubeObject {
  spec: { every: { minute: string }; size?: number };
}

const schema = (spec: object): object => ({
  openAPIV3Schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: { type: "object", properties: { size: { type: "integer" }, ...spec } },
    },
  },
});
const version = (name: string, spec: object): object => ({
  ...{ name, served: true, storage: name === "v1", schema: schema(spec) },
});
const minute = { type: "object", properties: { minute: { type: "string" } } };
const definition = crdOf({
  group: GROUP,
  kind: "Task",
  names: { singular: "task", listKind: "TaskList" },
  versions: [version("v1", { schedule: { type: "string" } }), version("v2", { every: minute })],
  conversion: {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: { service: { name: "", namespace: "", path: "/convert" } },
    },
  },
});
const Task1 = fromCrd<TaskV1>(definition, "v1");
const Task2 = fromCrd<TaskV2>(definition, "v2");

/** By hand: that of `customResource` has tests of its own. */
const Tasks = {
  crd: definition,
  convert(object: TaskV1 & TaskV2, to: string): object {
    const { spec } = object;
    const apiVersion = `${GROUP}/${to}`;
    if (spec === undefined || object.apiVersion === apiVersion) return { ...object, apiVersion };
    const { schedule, every, ...rest } = spec;
    const part = to === "v1" ? { schedule: every.minute } : { every: { minute: schedule } };
    return { ...object, apiVersion, spec: { ...rest, ...part } };
  },
};

const check = validating(Task2, {
  handle: ({ object }) =>
    object.spec.every.minute === "never" ? [{ field: "spec.every", message: "is never" }] : [],
});
const fill = mutating(Task2, {
  handle({ object }) {
    object.spec.size ??= 1;
  },
});

const Definition = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");
const EndpointSlice = builtIn<KubeObject & { endpoints: object[] }>(
  "discovery.k8s.io/v1",
  "EndpointSlice",
);
const KINDS = {
  Service: builtIn<KubeObject>("v1", "Service"),
  ValidatingWebhookConfiguration: builtIn<KubeObject>(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
  ),
  MutatingWebhookConfiguration: builtIn<KubeObject>(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
  ),
} as const;

let named: NamedCluster;
let client: KubeClient;
let namespace: string;
const configurations: [keyof typeof KINDS, string][] = [];

beforeAll(async () => {
  named = await NamedCluster.open();
  ({ client, namespace } = named);
  const place = { service: SERVICE, namespace, certificate: undefined };
  const options = { ...place, hooks: [check, fill], converted: [`tasks.${GROUP}`] };
  for (const object of webhookManifests(options).values()) {
    const { kind, metadata } = object as { kind: keyof typeof KINDS; metadata: { name: string } };
    if (KINDS[kind] === undefined) continue;
    await client.create(KINDS[kind], object as never);
    if (kind !== "Service") configurations.push([kind, metadata.name]);
  }
  await client.create(Definition, addressed(definition, place) as never);
});

afterAll(async () => {
  for (const [kind, name] of configurations) await client.delete(KINDS[kind], name);
  await client.delete(Definition, `tasks.${GROUP}`);
  await named[Symbol.asyncDispose]();
});

interface Replica {
  readonly seen: string[];
  /** Begins the stop, takes the endpoint away after a second as a cluster does, and waits for the end. */
  stop(): Promise<void>;
}

let replicas = 0;

/** A replica, whose endpoint comes when it is ready, as in a cluster. */
async function replica(drain = 3_000, clock: Clock = realClock): Promise<Replica> {
  const name = `replica-${++replicas}`;
  const [port, probes] = [await freePort(), await freePort()];
  const seen: string[] = [];
  const stop = new AbortController();
  const running = runOperator(
    {
      name: "tasks",
      transport: {
        ...{ description: named.transport.description, namespace },
        send: (request, signal) => named.transport.send(request, signal),
      },
      leaderElection: false,
      setup({ cluster, controller }) {
        const tasks = cluster.watch(Task2, { namespaces: [namespace] });
        return () => [
          controller({
            name: "task",
            sources: [tasks.source()],
            reconcile: ({ key }) => {
              seen.push(`${key} ${tasks.get(key)?.spec.every.minute}`);
            },
          }),
        ];
      },
      health: { port: probes },
      webhooks: { service: SERVICE, hooks: [check, fill], convert: [Tasks], port, drain },
      logger: silentLogger,
      clock,
    },
    stop.signal,
  );
  running.catch((error: unknown) => console.error(error));
  await expect
    .poll(async () => (await fetch(`http://127.0.0.1:${probes}/readyz`)).status)
    .toBe(200);
  await client.create(EndpointSlice, {
    metadata: { name, namespace, labels: { "kubernetes.io/service-name": SERVICE } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    ports: [{ name: "", port, protocol: "TCP" }],
  } as never);
  return {
    seen,
    stop: async () => {
      stop.abort();
      await realClock.sleep(1_000);
      await client.delete(EndpointSlice, { name, namespace });
      await running;
    },
  };
}

const task = (name: string, schedule = "5") => ({
  metadata: { name, namespace },
  spec: { schedule },
});

/** Stops twenty replicas while users write. Resolves with the failures of the users. */
async function failuresOverStops(drain: number): Promise<string[]> {
  let [old, other] = [await replica(drain), await replica(drain)];
  await expect.poll(() => client.apply(Task1, task("loaded") as never)).toBeDefined();
  let calls = 0;
  const failures: string[] = [];
  const load = new AbortController();
  const writer = async (index: number): Promise<void> => {
    for (let n = 0; !load.signal.aborted; n++) {
      calls++;
      const name = `load-${index}-${n % 10}`;
      const write = client.apply(Task2, {
        metadata: { name, namespace },
        spec: { every: { minute: `${n}` } },
      } as never);
      await write.catch((error: unknown) => failures.push(`${error}`));
    }
  };
  const writers = [1, 2, 3, 4].map(writer);
  for (let stops = 0; stops < 20; stops += 1) {
    const next = await replica(drain);
    await old.stop();
    [old, other] = [other, next];
  }
  load.abort();
  await Promise.all(writers);
  console.log(`${calls} writes over 20 stops, ${failures.length} failed`, ...failures);
  await Promise.all([old.stop(), other.stop()]);
  return failures;
}

/** A server that is too busy to follow an endpoint within the drain calls a port that closes. */
const isOfBusy = (failure: string): boolean =>
  /connection refused|connection reset|broken pipe|EOF/.test(failure);

describe("webhooks of an operator", () => {
  test("that converts its own kind, behind an endpoint that waits for /readyz, start", async () => {
    const one = await replica();
    const create = async () => (await client.create(Task1, task("first"))).spec;
    await expect.poll(create).toEqual({ schedule: "5", size: 1 });
    await expect.poll(() => one.seen).toContain(`${namespace}/first 5`);

    expect((await client.get(Task2, `${namespace}/first`)).spec).toEqual({
      every: { minute: "5" },
      size: 1,
    });
    const refused: unknown = await client
      .create(Task1, task("second", "never"))
      .catch((e: unknown) => e);
    expect(isApiError(refused, "Invalid")).toBe(true);
    expect((refused as Error).message).toContain(
      `admission webhook "validate.tasks.${GROUP}" denied the request: Task.${GROUP} "second" is invalid: spec.every: Invalid value: is never`,
    );
    expect((refused as { details: object }).details).toMatchObject({
      causes: [{ reason: "FieldValueInvalid", field: "spec.every" }],
    });
    await one.stop();
  });

  test("lose no call in twenty stops under load", async () => {
    const failures = await failuresOverStops(3_000);
    const isTooBusy = failures.length > 0 && failures.every(isOfBusy);
    expect(isTooBusy ? await failuresOverStops(15_000) : failures).toEqual([]);
  }, 600_000);

  test("lose no call six seconds after the last one", async () => {
    const one = await replica();
    await expect.poll(() => client.create(Task1, task("warm"))).toBeDefined();
    const failures: unknown[] = [];
    let count = 0;
    for (const pause of [5_940, 5_970, 6_000, 6_030, 6_050]) {
      const calls = Array.from({ length: 12 }, () =>
        client
          .create(Task1, task(`idle-${count++}`))
          .catch((error: unknown) => failures.push(error)),
      );
      await Promise.all(calls);
      await realClock.sleep(pause);
    }
    expect(failures).toEqual([]);
    await one.stop();
  });
});
