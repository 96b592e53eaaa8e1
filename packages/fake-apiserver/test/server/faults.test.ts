import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type Fault } from "@holdfast/fake-apiserver";
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

const at = (kit: ApiKit): number => kit.clock.monotonic();

describe("intercept", () => {
  it("responds with a status, its reason and Retry-After, a given number of times", async () => {
    const kit = new ApiKit();
    const fault: Fault = {
      type: "status",
      status: 429,
      message: "storage is (re)initializing",
      retryAfter: 1,
    };
    kit.api.intercept({ fault, times: 2 });
    const first = await kit.send("GET", WIDGETS);
    expect(first.headers["retry-after"]).toBe("1");
    expect(first.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "storage is (re)initializing",
      reason: "TooManyRequests",
      details: { retryAfterSeconds: 1 },
      code: 429,
    });
    expect((await kit.send("GET", WIDGETS)).status).toBe(429);
    expect((await kit.send("GET", WIDGETS)).status).toBe(200);
  });

  it("covers the verbs, the resource and the requests that the rule names, until it is disposed", async () => {
    const kit = new ApiKit();
    const rule = kit.api.intercept({
      fault: { type: "status", status: 503 },
      verbs: ["list"],
      resource: ConfigMap,
      when: ({ query }) => query.get("limit") === "5",
    });
    const status = async (path: string) => (await kit.send("GET", path)).status;
    expect(await status(`${CONFIG_MAPS}?limit=5`)).toBe(503);
    expect(await status(`${CONFIG_MAPS}?limit=4`)).toBe(200);
    expect(await status(`${WIDGETS}?limit=5`)).toBe(200);
    expect(await status(`${CONFIG_MAPS}/a?limit=5`)).toBe(404);
    rule[Symbol.dispose]();
    expect(await status(`${CONFIG_MAPS}?limit=5`)).toBe(200);
  });

  it("lets the latest rule decide, and a function choose no fault", async () => {
    const kit = new ApiKit();
    kit.api.intercept({ fault: { type: "status", status: 503 } });
    kit.api.intercept({
      fault: ({ verb }) => (verb === "get" ? { type: "status", status: 500 } : undefined),
    });
    expect((await kit.send("GET", `${WIDGETS}/a`)).status).toBe(500);
    expect((await kit.send("GET", WIDGETS)).status).toBe(503);
  });

  it("responds with text that is not JSON", async () => {
    const kit = new ApiKit();
    kit.api.intercept({ fault: { type: "text", text: "<html>" } });
    const { status, headers, text } = await kit.send("GET", WIDGETS);
    expect({ status, type: headers["content-type"], text }).toEqual({
      status: 200,
      type: "text/html",
      text: "<html>",
    });
  });

  it.each([
    ["reject", "ECONNREFUSED", 404],
    ["reset", "ECONNRESET", 404],
    ["drop", "ECONNRESET", 200],
  ] as const)("breaks the connection: %s", async (type, code, status) => {
    const kit = new ApiKit();
    kit.api.intercept({ fault: { type }, verbs: ["create"] });
    const made = kit.send("POST", WIDGETS, { body: widget("a") });
    await expect(made).rejects.toMatchObject({ cause: { code } });
    expect((await kit.send("GET", `${WIDGETS}/a`)).status).toBe(status);
  });

  it("delays the correct response, and stops waiting on abort", async () => {
    const kit = new ApiKit();
    kit.api.intercept({ fault: { type: "delay", delay: 5_000 } });
    await kit.clock.run(async () => {
      const start = at(kit);
      expect((await kit.send("GET", WIDGETS)).status).toBe(200);
      expect(at(kit) - start).toBe(5_000);
      const stop = new AbortController();
      const sent = kit.send("GET", WIDGETS, { signal: stop.signal });
      stop.abort("stop");
      await expect(sent).rejects.toBe("stop");
    });
    expect(kit.clock.waiters()).toBe(0);
  });

  it("never responds, until the abort or the end of the server", async () => {
    const kit = new ApiKit();
    kit.api.intercept({ fault: { type: "stall" } });
    const stop = new AbortController();
    const sent = kit.send("GET", WIDGETS, { signal: stop.signal });
    const other = kit.send("GET", WIDGETS);
    stop.abort("stop");
    await expect(sent).rejects.toBe("stop");
    kit.api.stop();
    await expect(other).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(kit.clock.waiters()).toBe(0);
  });

  it.each([
    [{ type: "close", after: { lines: 1 } }, ["ADDED a 2"], "closed"],
    [{ type: "close" }, [], "closed"],
    [{ type: "reset", after: { lines: 1 } }, ["ADDED a 2"], { cause: { code: "ECONNRESET" } }],
    [{ type: "reset", after: { bytes: 5 } }, [], { cause: { code: "ECONNRESET" } }],
    [{ type: "stall", after: { lines: 1 } }, ["ADDED a 2"], "open"],
  ] as const)("breaks a watch: %j", async (fault, events, end) => {
    const kit = new ApiKit();
    kit.api.intercept({ fault, verbs: ["watch"] });
    const watch = await kit.watch(WIDGETS, "resourceVersion=1&timeoutSeconds=10");
    await kit.send("POST", WIDGETS, { body: widget("a") });
    await kit.send("POST", WIDGETS, { body: widget("b") });
    await settle();
    expect(brief(watch.events)).toEqual(events);
    if (end === "open" || end === "closed") expect(watch.end()).toBe(end);
    else expect(watch.end()).toMatchObject(end);
    kit.api.stop();
    expect(kit.clock.waiters()).toBe(0);
  });

  it("adds a line to a watch, which continues", async () => {
    const kit = new ApiKit();
    const fault: Fault = { type: "line", text: '{"type":"ADDED","obj', after: { lines: 1 } };
    kit.api.intercept({ fault, verbs: ["watch"] });
    const { body } = await kit.open("GET", `${WIDGETS}?watch=1&resourceVersion=1&timeoutSeconds=1`);
    for (const name of ["a", "b"]) await kit.send("POST", WIDGETS, { body: widget(name) });
    await kit.clock.run(() => kit.clock.sleep(1_000));
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString("utf8").split("\n");
    expect(lines.map((line) => line.slice(0, 20))).toEqual([
      '{"type":"ADDED","obj',
      '{"type":"ADDED","obj',
      '{"type":"ADDED","obj',
      "",
    ]);
    expect(lines[1]).toBe('{"type":"ADDED","obj');
  });

  it.each([
    [{ fault: { type: "explode" } }, "rule.fault.type must be one of status, text"],
    [{ fault: { type: "reset" }, times: 0 }, "rule.times must be a whole number of at least 1"],
    [{ fault: { type: "reset" }, verbs: "list" }, "rule.verbs must be an array"],
    [{}, "rule.fault must be an object"],
    [{ fault: { type: "status" } }, "rule.fault.status must be a whole number of at least 100"],
    [{ fault: { type: "text", text: 5 } }, "rule.fault.text must be a string, got 5"],
    [{ fault: { type: "delay" } }, "rule.fault.delay must be a number of milliseconds"],
    [{ fault: { type: "stall", after: 5 } }, "rule.fault.after must be an object, got 5"],
  ])("refuses the rule %j", (rule, message) => {
    expect(() => new ApiKit().api.intercept(rule as never)).toThrow(message);
  });
});

describe("requests", () => {
  it("record the requests of clients, and the responses", async () => {
    const kit = new ApiKit();
    await kit.send("POST", CONFIG_MAPS, { body: configMap("a", { secret: "do not keep" }) });
    await kit.send("GET", `${CONFIG_MAPS}/a?x=1`, { headers: { accept: "application/json" } });
    kit.api.intercept({ fault: { type: "reset" } });
    await expect(kit.send("GET", "/version")).rejects.toThrow();
    expect(kit.api.requests).toMatchObject([
      { verb: "create", resource: "configmaps", namespace: "default", name: "", status: 201 },
      { verb: "get", name: "a", path: `${CONFIG_MAPS}/a?x=1`, status: 200, at: kit.clock.now() },
      { verb: "other", resource: undefined, status: undefined },
    ]);
    expect(kit.api.requests[1]?.query.get("x")).toBe("1");
    expect(JSON.stringify(kit.api.requests)).not.toContain("do not keep");
  });

  it("are kept, at least as many as asked for and at most twice as many", async () => {
    const api = new FakeApi({ clock: new FakeClock(), resources: [ConfigMap], keptRequests: 3 });
    const lengths: number[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      await api.client.find(ConfigMap, `default/${name}`);
      lengths.push(api.requests.length);
    }
    expect(lengths).toEqual([1, 2, 3, 4, 5, 6, 4, 5]);
    expect(api.requests.map(({ name }) => name)).toEqual(["d", "e", "f", "g", "h"]);
  });
});
