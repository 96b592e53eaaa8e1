import { FakeClock } from "@holdfast/clock/testing";
import { builtIn, type KubeObject } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { ApiServer } from "../../src/server/api-server.ts";
import { servedResource } from "../../src/server/resource/served-resource.ts";
import { ApiState } from "../../src/server/state/api-state.ts";
import {
  ApiKit,
  brief,
  CONFIG_MAPS,
  ConfigMap,
  configMap,
  namesOf,
  settle,
  WIDGETS,
  Widget,
  widget,
} from "./api-kit.ts";

describe("objects", () => {
  it("get a uid, a version and the time of the clock", async () => {
    const kit = new ApiKit();
    const made = await kit.send("POST", CONFIG_MAPS, { body: configMap("a", { text: "one" }) });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "a",
        namespace: "default",
        resourceVersion: "2",
        creationTimestamp: "2000-01-01T00:00:00Z",
      },
      data: { text: "one" },
    });
    expect(made.body.metadata["uid"]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect((await kit.send("GET", `${CONFIG_MAPS}/a`)).body).toEqual(made.body);
  });

  // As the types of Go read it: tried on a server.
  it("have an empty text for null in a map of texts", async () => {
    const kit = new ApiKit();
    const body = configMap("a", { a: null, b: "x" });
    const made = await kit.send("POST", CONFIG_MAPS, { body });
    expect(made.body["data"]).toEqual({ a: "", b: "x" });
    const applied = configMap("b", { a: null });
    const headers = { "content-type": "application/apply-patch+yaml" };
    const path = `${CONFIG_MAPS}/b?fieldManager=one`;
    expect((await kit.send("PATCH", path, { body: applied, headers })).body["data"]).toEqual({
      a: "",
    });
  });

  it("are replaced under their version only", async () => {
    const kit = new ApiKit();
    await kit.send("POST", WIDGETS, { body: widget("a") });
    const stale = widget("a", { color: "blue" }, { resourceVersion: "1" });
    const refused = await kit.send("PUT", `${WIDGETS}/a`, { body: stale });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      kind: "Status",
      reason: "Conflict",
      details: { name: "a", group: "example.org", kind: "widgets" },
      code: 409,
    });
    const current = widget("a", { color: "blue" }, { resourceVersion: "2" });
    const replaced = await kit.send("PUT", `${WIDGETS}/a`, { body: current });
    expect(replaced.body.metadata).toMatchObject({ resourceVersion: "3", generation: 2 });
  });

  it("change by merge patch, and not by one that changes nothing", async () => {
    const kit = new ApiKit();
    await kit.send("POST", CONFIG_MAPS, { body: configMap("a", { one: "1", two: "2" }) });
    const patched = await kit.mergePatch(`${CONFIG_MAPS}/a`, { data: { one: null, three: "3" } });
    expect(patched.body["data"]).toEqual({ two: "2", three: "3" });
    expect(patched.body.metadata["resourceVersion"]).toBe("3");
    const again = await kit.mergePatch(`${CONFIG_MAPS}/a`, { data: { one: null, three: "3" } });
    expect(again.body).toEqual(patched.body);
  });

  it("stay until their last finalizer is removed", async () => {
    const kit = new ApiKit();
    await kit.send("POST", WIDGETS, { body: widget("a", {}, { finalizers: ["example.org/x"] }) });
    const marked = await kit.send("DELETE", `${WIDGETS}/a`);
    expect(marked.body.metadata).toMatchObject({
      deletionTimestamp: "2000-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 0,
      generation: 2,
      resourceVersion: "3",
    });
    expect((await kit.send("DELETE", `${WIDGETS}/a`)).body).toEqual(marked.body);
    await kit.mergePatch(`${WIDGETS}/a`, { metadata: { finalizers: null } });
    expect((await kit.send("GET", `${WIDGETS}/a`)).status).toBe(404);
  });
});

describe("the name of an object of a built-in kind", () => {
  it.each(["Not a name", "a_b", "-a", "a..b"])("is refused: %s", async (name) => {
    const { api } = new ApiKit();
    const metadata = { namespace: "default", name };
    await expect(api.client.create(ConfigMap, { metadata })).rejects.toThrow(
      "a lowercase RFC 1123 subdomain must consist of",
    );
  });

  it("may be any segment of a path for a role", async () => {
    const Role = builtIn<KubeObject>("rbac.authorization.k8s.io/v1", "Role");
    const { api } = new ApiKit({ resources: [Role] });
    const metadata = { namespace: "default", name: "system:reader" };
    await expect(api.client.create(Role, { metadata })).resolves.toMatchObject({ metadata });
  });
});

describe("an update", () => {
  it("cannot set fields of the server", async () => {
    const kit = new ApiKit();
    const { body: made } = await kit.send("POST", CONFIG_MAPS, {
      body: configMap("a", { n: "1" }),
    });
    const foreign = {
      creationTimestamp: "1999-01-01T00:00:00Z",
      generation: 7,
    };
    const sent = { body: configMap("a", { n: "2" }, foreign) };
    const { body } = await kit.send("PUT", `${CONFIG_MAPS}/a`, sent);
    const { resourceVersion: _, managedFields: __, ...kept } = made.metadata;
    const { managedFields: ___, ...metadata } = body.metadata;
    expect(metadata).toEqual({ ...kept, resourceVersion: "3" });
  });
});

describe("lists", () => {
  it("at an exact version show objects as they were before several changes", async () => {
    const kit = new ApiKit();
    for (const name of ["a", "b"]) await kit.send("POST", WIDGETS, { body: widget(name) });
    for (const size of [2, 3]) await kit.mergePatch(`${WIDGETS}/a`, { spec: { size } });
    await kit.send("DELETE", `${WIDGETS}/b`);
    await kit.send("POST", WIDGETS, { body: widget("b", { color: "blue" }) });
    const query = "resourceVersion=3&resourceVersionMatch=Exact";
    const { body } = await kit.send("GET", `${WIDGETS}?${query}`);
    expect(body.items.map(({ spec }) => spec)).toEqual([
      { color: "red", size: 1 },
      { color: "red", size: 1 },
    ]);
  });

  it("show one version on all pages, and 410 Expired once it is compacted", async () => {
    const kit = new ApiKit();
    for (const name of ["c", "a", "b"]) await kit.send("POST", WIDGETS, { body: widget(name) });
    const first = await kit.send("GET", `${WIDGETS}?limit=2`);
    const { resourceVersion, continue: token, remainingItemCount } = first.body.metadata;
    expect({ resourceVersion, remainingItemCount }).toEqual({
      resourceVersion: "4",
      remainingItemCount: 1,
    });
    await kit.send("DELETE", `${WIDGETS}/c`);
    const second = await kit.send("GET", `${WIDGETS}?limit=2&continue=${token}`);
    expect(namesOf(second.body)).toEqual(["c"]);
    expect(second.body.metadata).toEqual({ resourceVersion: "4", continue: "" });
    kit.api.compact();
    const gone = await kit.send("GET", `${WIDGETS}?limit=2&continue=${token}`);
    expect(gone.body).toMatchObject({ code: 410, reason: "Expired" });
  });
});

describe("watches", () => {
  it("send every change after the version of a list, none twice", async () => {
    const kit = new ApiKit();
    await kit.send("POST", WIDGETS, { body: widget("a") });
    const listed = (await kit.send("GET", WIDGETS)).body.metadata["resourceVersion"];
    await kit.mergePatch(`${WIDGETS}/a`, { spec: { color: "blue" } });
    const watch = await kit.watch(WIDGETS, `resourceVersion=${listed}&timeoutSeconds=10`);
    await kit.send("POST", WIDGETS, { body: widget("b") });
    await kit.send("DELETE", `${WIDGETS}/a`);
    await kit.clock.run(async () => kit.clock.sleep(10_000));
    await watch.reading;
    expect(brief(watch.events)).toEqual(["MODIFIED a 3", "ADDED b 4", "DELETED a 5"]);
    expect(watch.end()).toBe("closed");
    expect(kit.clock.waiters()).toBe(0);
  });

  it("from a forgotten version get 410 in the stream", async () => {
    const kit = new ApiKit();
    await kit.send("POST", WIDGETS, { body: widget("a") });
    await kit.send("POST", WIDGETS, { body: widget("b") });
    kit.api.stop();
    await kit.api.start({ history: "lost" });
    const watch = await kit.watch(WIDGETS, "resourceVersion=2");
    await watch.reading;
    expect(watch.status).toBe(200);
    expect(watch.events).toMatchObject([
      { type: "ERROR", object: { code: 410, reason: "Expired" } },
    ]);
  });

  it("are cut by stop(), which refuses connections as well", async () => {
    const kit = new ApiKit();
    const watch = await kit.watch(WIDGETS, "resourceVersion=1");
    kit.api.stop();
    await watch.reading;
    expect(watch.end()).toMatchObject({ cause: { code: "ECONNRESET" } });
    await expect(kit.send("GET", WIDGETS)).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
    await kit.api.start();
    expect((await kit.send("GET", WIDGETS)).status).toBe(200);
    expect(kit.clock.waiters()).toBe(0);
  });

  it("leave nothing behind in the server when they end", async () => {
    const clock = new FakeClock();
    const state = new ApiState();
    let listeners = 0;
    const subscribe = state.subscribe.bind(state);
    state.subscribe = (...parameters) => {
      listeners += 1;
      const subscription = subscribe(...parameters);
      return {
        [Symbol.dispose]: () => {
          subscription[Symbol.dispose]();
          listeners -= 1;
        },
      };
    };
    const server = new ApiServer({
      state,
      clock,
      random: () => 0,
      served: [servedResource(Widget)],
      keptRequests: 1,
    });
    const watch = { method: "GET", path: `${WIDGETS}?watch=1`, headers: {} };
    await server.send(watch, new AbortController().signal);
    expect([listeners, clock.waiters()]).toEqual([1, 1]);
    server.connections.cut();
    expect([listeners, clock.waiters()]).toEqual([0, 0]);
  });

  it("reject with the reason of an abort", async () => {
    const kit = new ApiKit();
    const stop = new AbortController();
    const watch = await kit.watch(WIDGETS, "resourceVersion=1", { signal: stop.signal });
    await settle();
    const reason = new Error("stop");
    stop.abort(reason);
    await watch.reading;
    expect(watch.end()).toBe(reason);
    expect(kit.clock.waiters()).toBe(0);
  });
});
