import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { atUrl, isConnectionError, KubeClient } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { ApiKit, CONFIG_MAPS, ConfigMap, configMap } from "./api-kit.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
}

function ask(url: string, { method = "GET", token = "t", body = "" } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = request(url, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode as number, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

it("serves objects and watches over HTTP to clients with the token", async () => {
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
  await using front = await api.listen({ token: "t" });
  const url = `${front.url}${CONFIG_MAPS}`;
  expect(await ask(url, { token: "wrong" })).toMatchObject({ status: 401 });
  expect(api.requests).toHaveLength(0);
  const body = JSON.stringify(configMap("a", { text: "one" }));
  expect(await ask(url, { method: "POST", body })).toMatchObject({ status: 201 });
  const watched = ask(`${url}?watch=1&resourceVersion=1&timeoutSeconds=1`);
  expect(JSON.parse((await watched).text)).toMatchObject({
    type: "ADDED",
    object: { data: { text: "one" } },
  });
});

it.each([
  ["a name that leads here", { host: "example.com", "content-type": "application/json" }, 421],
  ["a body without a type", {}, 415],
  ["a body of a form", { "content-type": "text/plain" }, 415],
  ["a body of a form with fields", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ["localhost and a type", { host: "localhost", "content-type": "application/json" }, 201],
])(
  "responds to %s with the status that keeps pages of browsers out",
  async (_name, headers, status) => {
    const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
    await using front = await api.listen();
    const sent = request(`${front.url}${CONFIG_MAPS}`, { method: "POST", headers });
    sent.end(JSON.stringify(configMap("a", { text: "one" })));
    const [response] = await once(sent, "response");
    response.resume();
    expect([response.statusCode, api.requests.length]).toEqual([status, status === 201 ? 1 : 0]);
  },
);

it("has one request in flight on a connection", async () => {
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
  await using front = await api.listen();
  const { port } = new URL(front.url);
  const socket = connect(Number(port), "127.0.0.1").resume();
  socket.on("error", () => {});
  socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(4_000));
  await new Promise((resolve) => socket.on("close", resolve));
  expect(api.requests.length).toBeLessThanOrEqual(1);
});

it("refuses and resets connections over HTTP while it is stopped", async () => {
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
  await using front = await api.listen();
  const url = `${front.url}${CONFIG_MAPS}`;
  const watched = ask(`${url}?watch=1&resourceVersion=1`);
  await expect.poll(() => api.requests.length).toBe(1);
  api.stop();
  await expect(watched).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect(ask(url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await api.start();
  await expect.poll(() => ask(url).catch(() => undefined)).toMatchObject({ status: 200 });
  api.intercept({ fault: { type: "reset" } });
  await expect(ask(url)).rejects.toMatchObject({ code: "ECONNRESET" });
});

it("rejects a start and a listener whose port is in use, and starts when it is free again", async () => {
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
  await using front = await api.listen();
  const port = Number(new URL(front.url).port);
  const taken = `port ${port} of 127.0.0.1 is taken: stop the program that listens on it, or choose another`;
  await expect(api.listen({ port })).rejects.toThrow(taken);
  api.stop();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  await expect(api.start()).rejects.toThrow(taken);
  // It is stopped as before.
  await expect(api.client.find(ConfigMap, "default/a")).rejects.toThrow("ECONNREFUSED");
  other.close();
  await once(other, "close");
  await api.start();
  expect(await ask(`${front.url}${CONFIG_MAPS}`)).toMatchObject({ status: 200 });
});

it("ends a watch when its client disconnects", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap] });
  await using front = await api.listen();
  const sent = request(`${front.url}${CONFIG_MAPS}?watch=1&resourceVersion=1`);
  sent.on("error", () => {});
  const opened = new Promise((resolve) => sent.on("response", resolve));
  sent.end();
  await opened;
  expect(clock.waiters()).toBe(1);
  sent.destroy();
  await expect.poll(() => clock.waiters()).toBe(0);
});

it("keeps no listener for each pending chunk of a slow reader", async () => {
  const warnings: string[] = [];
  const warn = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", warn);
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap] });
  await using front = await api.listen();
  const sent = request(`${front.url}${CONFIG_MAPS}?watch=1&resourceVersion=1`).end();
  const [response] = await once(sent, "response");
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const text = "x".repeat(500_000); // more than a socket takes at once
  for (let index = 0; index < 20; index++) {
    const metadata = { namespace: "default", name: `m${index}` };
    await api.client.create(ConfigMap, { ...configMap("m", { text }), metadata });
  }
  await expect.poll(() => bytes, { timeout: 60_000 }).toBeGreaterThan(20 * 500_000);
  sent.destroy();
  process.off("warning", warn);
  expect(warnings).toEqual([]);
});

it.each<[string, (api: FakeApi) => unknown, string]>([
  ["a reset", (api) => api.intercept({ fault: { type: "reset" } }), "ECONNRESET"],
  ["a lost answer", (api) => api.intercept({ fault: { type: "drop" } }), "ECONNRESET"],
  [
    "a reset in the body",
    async (api) => {
      // The status of a refusal would be an answer, without its body too.
      await api.client.create(ConfigMap, {
        ...configMap("ann"),
        metadata: { namespace: "default", name: "ann" },
      });
      api.intercept({ fault: { type: "reset", after: { bytes: 5 } } });
    },
    "ECONNRESET",
  ],
  ["a stopped server", (api) => api.stop(), "ECONNREFUSED"],
])("rejects with the error of a transport over HTTP: %s", async (_name, arrange, code) => {
  const { api } = new ApiKit();
  await using listener = await api.listen();
  await arrange(api);
  for (const transport of [api.transport, atUrl(listener.url)]) {
    const client = new KubeClient({ transport });
    const error = await errorOf(client.find(ConfigMap, "default/ann"));
    const server = transport.description;
    expect(isConnectionError(error)).toBe(true);
    expect(error).toMatchObject({ name: "ConnectionError", server, cause: { code } });
    expect((error as Error).message).toContain(
      `GET ${CONFIG_MAPS}/ann: no response from ${server} (${code}): `,
    );
  }
});
