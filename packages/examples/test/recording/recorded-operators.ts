import {
  builtIn,
  type KubeClient,
  type KubeObject,
  type OperatorSetup,
  ownerReference,
  type Resource,
} from "@holdfast/kubernetes";
import { cronTasks } from "../../src/cron-task/cron-task.ts";
import { CronTask, Job } from "../../src/cron-task/resources.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { jobTemplate } from "../cron-task/cron-world.ts";
import type { FakeDns } from "../website/fake-dns.ts";
import { resources, spec, startPods, TARGET } from "../website/website-world.ts";
import type { RecordedWorld } from "./recorded-world.ts";

/** An operator of the examples, and what its users do. */
export interface RecordedOperator {
  readonly name: string;
  readonly resources: readonly Resource[];
  /** The operator; `dns` is the system outside of the cluster. */
  setup(dns: FakeDns): OperatorSetup;
  /** Plays one round. Its writes may fail under faults, as those of users. */
  play(world: RecordedWorld, dns: FakeDns, round: number): Promise<void>;
}

const at = (name: string) => ({ namespace: "default", name });

const website: RecordedOperator = {
  name: "website",
  resources,
  setup: (dns) => (context) => websites(context.link(dns, "dns"), TARGET)(context),
  async play({ api: { client } }, dns, round) {
    const site = at(`site-${round % 3}`);
    dns.isDown = round % 4 === 3;
    if ((await client.find(Website, site)) === undefined)
      await client.create(Website, { metadata: site, spec });
    else if (round % 5 === 4) await client.delete(Website, site);
    else await client.patch(Website, site, { spec: { page: `<h1>${round}</h1>` } });
    await startPods(client);
  },
};

const greetings: RecordedOperator = {
  name: "greeter",
  resources: [Greeting, ConfigMap],
  setup: () => greeter,
  async play({ api: { client } }, _, round) {
    const ann = at(`ann-${round % 4}`);
    if ((await client.find(Greeting, ann)) === undefined)
      await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
    else if (round % 5 === 4) await client.delete(ConfigMap, at(`greeting-${ann.name}`));
    else await client.patch(Greeting, ann, { spec: { name: `Ann ${round}` } });
  },
};

const cron: RecordedOperator = {
  name: "cron-task",
  resources: [CronTask, Job],
  setup: () => cronTasks,
  async play({ api: { client } }, _, round) {
    const task = at(`task-${round % 4}`);
    if ((await client.find(CronTask, task)) === undefined)
      await client.create(CronTask, {
        metadata: task,
        spec: { schedule: "* * * * *", jobTemplate },
      });
    else await client.patch(CronTask, task, { spec: { suspend: round % 2 === 0 } });
  },
};

type Settings = KubeObject & { data?: { [name: string]: string } };
const Settings = builtIn<Settings>("v1", "ConfigMap");
const Child = builtIn<KubeObject & { data?: { [name: string]: string } }>("v1", "Secret");
const FINALIZER = "example.org/owned";

/** Makes a child with an owner reference, and deletes it before the owner goes. */
const owners: RecordedOperator = {
  name: "owners",
  resources: [Settings, Child],
  setup:
    () =>
    ({ cluster, client, controller }) => {
      const maps = cluster.watch(Settings);
      const children = cluster.watch(Child);
      return () => [
        controller({
          name: "owners",
          sources: [maps.source(), children.source({ to: ({ key }) => [key] })],
          async reconcile({ key, signal }) {
            const map = maps.get(key);
            if (map === undefined) return;
            const { finalizers = [], deletionTimestamp, resourceVersion } = map.metadata;
            const finalize = async (wanted: readonly string[]): Promise<unknown> =>
              await client.patch(
                Settings,
                key,
                { metadata: { finalizers: [...wanted], resourceVersion } },
                { signal },
              );
            if (deletionTimestamp !== undefined) {
              if (children.get(key) !== undefined) await client.delete(Child, key, { signal });
              await finalize(finalizers.filter((name) => name !== FINALIZER));
              return;
            }
            if (!finalizers.includes(FINALIZER)) await finalize([...finalizers, FINALIZER]);
            const { name, namespace } = map.metadata;
            const metadata = { name, namespace, ownerReferences: [ownerReference(Settings, map)] };
            await client.apply(Child, { metadata, data: map.data ?? {} }, { signal });
          },
        }),
      ];
    },
  async play({ api: { client } }, _, round) {
    const map = at(`map-${round % 3}`);
    const data = { text: Buffer.from(`text ${round}`).toString("base64") };
    if ((await client.find(Settings, map)) === undefined)
      await client.create(Settings, { metadata: map, data });
    else if (round % 4 === 3) await client.delete(Settings, map);
    else if (round % 5 === 4) await client.delete(Child, map);
    else await client.patch(Settings, map, { data });
  },
};

/** Writes the time to each object, again and again. */
const periodic: RecordedOperator = {
  name: "periodic",
  resources: [Settings],
  setup:
    () =>
    ({ cluster, client, controller, clock }) => {
      const maps = cluster.watch(Settings);
      return () => [
        controller({
          name: "periodic",
          workers: 3,
          sources: [maps.source()],
          async reconcile({ key, signal }) {
            const map = maps.get(key);
            if (map === undefined) return;
            const minute = `${Math.floor(clock.now() / 60_000)}`;
            const { name, namespace } = map.metadata;
            if (map.data?.["minute"] !== minute)
              await client.apply(
                Settings,
                { metadata: { name, namespace }, data: { minute } },
                { signal },
              );
            return { requeueAfter: 30_000 };
          },
        }),
      ];
    },
  async play({ api: { client } }, _, round) {
    const map = at(`map-${round % 3}`);
    if ((await client.find(Settings, map)) === undefined)
      await client.create(Settings, { metadata: map });
    else if (round % 5 === 4) await client.delete(Settings, map);
    else await client.patch(Settings, map, { data: { text: `${round}` } });
  },
};

export const recordedOperators: readonly RecordedOperator[] = [
  website,
  greetings,
  cron,
  owners,
  periodic,
];

/** An operator whose objects of which a name has "-1" get a label more. */
export function labelled(setup: OperatorSetup): OperatorSetup {
  return (context) => {
    const { client } = context;
    const methods = {
      apply: (...[resource, object, options]: Parameters<KubeClient["apply"]>) =>
        client.apply(resource, withLabel(object), options),
      create: (...[resource, object, options]: Parameters<KubeClient["create"]>) =>
        client.create(resource, withLabel(object), options),
    };
    const changed = new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(name in methods ? methods : target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return setup({ ...context, client: changed });
  };
}

function withLabel<Value extends object>(object: Value): Value {
  const { metadata, status } = object as KubeObject & { status?: unknown };
  if (status !== undefined || !/-1\b/.test(`${metadata?.name}`)) return object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata?.labels, tried: "yes" } } };
}
