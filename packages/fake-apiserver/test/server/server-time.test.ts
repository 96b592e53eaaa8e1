import { isApiError } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import {
  ApiKit,
  brief,
  CONFIG_MAPS,
  ConfigMap,
  configMap,
  settle,
  WIDGETS,
  widget,
} from "./api-kit.ts";

const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

describe("a watch", () => {
  it("gets a bookmark each minute with the latest version, and one 2 s before its end", async () => {
    const kit = new ApiKit();
    const start = kit.clock.monotonic();
    const times: number[] = [];
    const query = "resourceVersion=1&timeoutSeconds=150&allowWatchBookmarks=true";
    const { body } = await kit.open("GET", `${WIDGETS}?watch=1&${query}`);
    await kit.clock.run(async () => {
      await kit.send("POST", CONFIG_MAPS, { body: configMap("other") });
      const bookmark = {
        type: "BOOKMARK",
        object: {
          kind: "Widget",
          apiVersion: "example.org/v1",
          metadata: { resourceVersion: "2" },
        },
      };
      for await (const chunk of body) {
        expect(JSON.parse(Buffer.from(chunk).toString("utf8"))).toEqual(bookmark);
        times.push(kit.clock.monotonic() - start);
      }
      times.push(kit.clock.monotonic() - start);
    });
    expect(times).toEqual([60_000, 120_000, 148_000, 150_000]);
    expect(kit.clock.waiters()).toBe(0);
  });

  it("gets no bookmark while the version stays the one at which it began", async () => {
    const kit = new ApiKit();
    await kit.send("POST", CONFIG_MAPS, { body: configMap("other") });
    for (const version of ["2", "0"]) {
      const query = `resourceVersion=${version}&timeoutSeconds=150&allowWatchBookmarks=true`;
      const watch = await kit.watch(WIDGETS, query);
      await kit.clock.run(() => watch.reading);
      expect(watch.events).toEqual([]);
    }
  });

  it("without a timeout ends after 30 to 60 minutes", async () => {
    const kit = new ApiKit();
    const watch = await kit.watch(WIDGETS, "resourceVersion=1");
    await kit.clock.run(() => watch.reading);
    const minutes = (kit.clock.now() - Date.UTC(2000, 0, 1)) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(30);
    expect(minutes).toBeLessThan(60);
  });

  it("from a future version is silent until then", async () => {
    const kit = new ApiKit();
    const watch = await kit.watch(WIDGETS, "resourceVersion=3");
    for (const name of ["a", "b", "c"]) await kit.send("POST", WIDGETS, { body: widget(name) });
    await settle();
    expect(brief(watch.events)).toEqual(["ADDED c 4"]);
    kit.api.stop();
  });
});

describe("a list", () => {
  it("of a future version is 504 after 3 s", async () => {
    const kit = new ApiKit();
    const start = kit.clock.monotonic();
    const { status } = await kit.clock.run(() => kit.send("GET", `${WIDGETS}?resourceVersion=9`));
    expect({ status, after: kit.clock.monotonic() - start }).toEqual({ status: 504, after: 3_000 });
  });
});

describe("restore", () => {
  it("goes back to the objects and the version of the snapshot, and cuts watches", async () => {
    const kit = new ApiKit();
    await kit.send("POST", WIDGETS, { body: widget("a") });
    const snapshot = kit.api.snapshot();
    const watch = await kit.watch(WIDGETS, "resourceVersion=2");
    await kit.send("POST", WIDGETS, { body: widget("b") });
    await kit.mergePatch(`${WIDGETS}/a`, { spec: { color: "blue" } });
    kit.api.restore(snapshot);
    await watch.reading;
    expect(brief(watch.events)).toEqual(["ADDED b 3", "MODIFIED a 4"]);
    expect(watch.end()).toMatchObject({ cause: { code: "ECONNRESET" } });
    const { body } = await kit.send("GET", WIDGETS);
    expect(body.metadata["resourceVersion"]).toBe("2");
    expect(body.items).toMatchObject([{ metadata: { name: "a" }, spec: { color: "red" } }]);
    // Silent, and not 410: the version is in the future of the restored server.
    const later = await kit.watch(WIDGETS, "resourceVersion=4");
    await settle();
    expect([later.events, later.end()]).toEqual([[], "open"]);
    kit.api.stop();
  });
});

describe("objects that controllers write", () => {
  const event = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "a" },
    eventTime: "2000-01-01T00:00:00.000000Z",
    reportingController: "example.org/controller",
    reportingInstance: "one",
    action: "Reconcile",
    reason: "Done",
    type: "Normal",
    regarding: { namespace: "default" },
  };
  const fieldsOf = (body: unknown): string[] =>
    (body as { details: { causes: { field: string }[] } }).details.causes.map(({ field }) => field);

  it.each([
    ["eventTime", undefined],
    ["reportingController", undefined],
    ["reportingInstance", "x".repeat(129)],
    ["action", undefined],
    ["reason", ""],
    ["type", "Odd"],
    ["note", "x".repeat(1_025)],
  ])("are refused: an Event whose %s is %j", async (field, value) => {
    const kit = new ApiKit();
    const { status, body } = await kit.send("POST", EVENTS, { body: { ...event, [field]: value } });
    expect([status, fieldsOf(body)]).toEqual([422, [field]]);
  });

  it("are accepted: an Event with all its fields, about an object of its namespace", async () => {
    const kit = new ApiKit();
    expect((await kit.send("POST", EVENTS, { body: event })).status).toBe(201);
    const ofCluster = { ...event, metadata: { name: "c" }, regarding: { kind: "Node" } };
    expect((await kit.send("POST", EVENTS, { body: ofCluster })).status).toBe(201);
    const other = { ...event, metadata: { name: "b" }, regarding: { namespace: "other" } };
    const { body } = await kit.send("POST", EVENTS, { body: other });
    expect(fieldsOf(body)).toEqual(["involvedObject.namespace"]);
  });

  it("are refused: a Lease without a duration", async () => {
    const kit = new ApiKit();
    const spec = { leaseDurationSeconds: 0, leaseTransitions: -1 };
    const { body } = await kit.send("POST", LEASES, { body: { metadata: { name: "a" }, spec } });
    expect(fieldsOf(body)).toEqual(["spec.leaseDurationSeconds", "spec.leaseTransitions"]);
  });
});

describe("a patch", () => {
  it.each([
    ["merge-patch+json", '{"__proto__":{"polluted":true}}'],
    ["json-patch+json", '[{"op":"add","path":"/__proto__/polluted","value":true}]'],
    ["json-patch+json", '[{"op":"add","path":"/constructor/prototype/polluted","value":true}]'],
    [
      "apply-patch+yaml",
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"x"}}',
    ],
  ])("of the prototype is 400: %s %s", async (type, body) => {
    const kit = new ApiKit();
    await kit.send("POST", CONFIG_MAPS, { body: configMap("a", {}) });
    const headers = { "content-type": `application/${type}` };
    const path = `${CONFIG_MAPS}/a?${type.startsWith("apply") ? "fieldManager=one" : ""}`;
    const { status } = await kit.send("PATCH", path, { body, headers });
    expect(status).toBe(400);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it("is not needed to store a field with the name of the prototype, which stays data", async () => {
    const kit = new ApiKit();
    const body =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"x"}}';
    const made = await kit.send("POST", CONFIG_MAPS, { body });
    expect(made.text).toContain('"data":{"__proto__":"x"}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("is 501 NotImplemented for an applied list whose merge rules only Kubernetes has", async () => {
    const kit = new ApiKit();
    const object = { ...configMap("a"), odd: ["x"] };
    const headers = { "content-type": "application/apply-patch+yaml" };
    const sent = { body: object, headers };
    const { body } = await kit.send("PATCH", `${CONFIG_MAPS}/a?fieldManager=one`, sent);
    expect(body).toMatchObject({
      code: 501,
      reason: "NotImplemented",
      message:
        "FakeApi does not know how Kubernetes merges the list .odd of a ConfigMap: patch or update it instead",
    });
  });
});

describe("client", () => {
  it("reads and writes objects, and rejects with the errors of the server", async () => {
    const { api } = new ApiKit();
    const made = await api.client.create(ConfigMap, {
      metadata: { namespace: "default", name: "a" },
    });
    expect(made.metadata.resourceVersion).toBe("2");
    const again = api.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });
    await expect(again).rejects.toSatisfy((error) => isApiError(error, "AlreadyExists"));
  });
});

describe("one hour with restarts, compactions and faults", () => {
  it("has the same trace twice, and leaves no waiter", async () => {
    const first = await trace();
    expect(first.length).toBeGreaterThan(500);
    expect(await trace()).toEqual(first);
  });
});

/** What a writer and a watcher that lists again see in one hour. */
async function trace(): Promise<string[]> {
  const random = seededRandom(7);
  const kit = new ApiKit({ random: seededRandom(3) });
  const seen: string[] = [];
  const note = (text: string): void => void seen.push(`${kit.clock.monotonic()} ${text}`);
  kit.api.intercept({
    fault: () => (random() < 0.05 ? { type: "status", status: 503 } : undefined),
  });
  const stop = new AbortController();
  await kit.clock.run(async () => {
    const watching = follow(kit, note, stop.signal);
    for (let minute = 0; minute < 60; minute++) {
      await Promise.all([write(kit, random, note), kit.clock.sleep(50_000)]);
      if (minute % 7 === 3) kit.api.stop();
      if (minute % 5 === 4) kit.api.compact();
      await kit.clock.sleep(10_000);
      await kit.api.start({ history: minute % 14 === 3 ? "lost" : "kept" });
    }
    stop.abort();
    await watching;
  });
  expect(kit.clock.waiters()).toBe(0);
  return seen;
}

async function write(kit: ApiKit, random: () => number, note: (text: string) => void) {
  for (let count = 0; count < 5; count++) {
    await kit.clock.sleep(Math.floor(random() * 5_000));
    const name = `w${Math.floor(random() * 5)}`;
    const isNew = random() < 0.5;
    const sent = isNew
      ? kit.send("POST", WIDGETS, { body: widget(name) })
      : kit.send("DELETE", `${WIDGETS}/${name}`);
    note(`${isNew ? "create" : "delete"} ${name} ${(await sent.catch(() => undefined))?.status}`);
  }
}

/** Lists, watches from there until the watch ends, and begins again a second later. */
async function follow(kit: ApiKit, note: (text: string) => void, signal: AbortSignal) {
  while (!signal.aborted) {
    const listed = await kit.send("GET", WIDGETS).catch(() => undefined);
    const version = listed?.body.metadata["resourceVersion"];
    note(`list ${listed?.status} ${version}`);
    if (listed?.status === 200) {
      const query = `resourceVersion=${version}&timeoutSeconds=300&allowWatchBookmarks=true`;
      const watch = await kit.watch(WIDGETS, query, { signal }).catch(() => undefined);
      await watch?.reading.catch(() => {});
      for (const event of brief(watch?.events ?? [])) note(event);
    }
    await kit.clock.sleep(1_000, { signal }).catch(() => {});
  }
}
