import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { realClock } from "@holdfast/clock";
import { Outbox } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { isWebhookError, WebhookPublisher } from "@holdfast/outbox/webhook";
import { isTerminalError } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";
import { sample } from "./sample.ts";
import { sampleMessage } from "./sample-message.ts";

/** A store whose calls fail as those of a driver do: in a callback, later. */
function failing(): MemoryStore {
  const store = new MemoryStore();
  const fail = async (): Promise<never> => {
    await realClock.sleep(1);
    throw new Error("connection lost");
  };
  return Object.assign(store, {
    save: fail,
    saveAll: fail,
    cancel: fail,
    takeOnce: fail,
    deadLetters: fail,
    replay: fail,
    discard: fail,
  });
}

const id = "0d0e6d5a-4e9f-4c11-9a43-2ac6d2f0c5f1";

const CALLS: Record<string, (outbox: Outbox<object>) => PromiseLike<unknown>> = {
  transaction: (outbox) => outbox.transaction((tx) => outbox.save(tx, sample(1))),
  "save in a transaction of one's own": (outbox) => outbox.save({}, sample(1)),
  "save of a list": (outbox) => outbox.save({}, [sample(1)]),
  cancel: (outbox) => outbox.cancel(id),
  once: (outbox) => outbox.once("a", async () => undefined),
  "deadLetters.list": (outbox) => outbox.deadLetters.list(),
  "deadLetters.replay": (outbox) => outbox.deadLetters.replay({ ids: [id] }),
  "deadLetters.discard": (outbox) => outbox.deadLetters.discard({ ids: [id] }),
};

describe("the stack of an error shows the callers", () => {
  it.each(Object.entries(CALLS))("of %s when the database fails", async (_, call) => {
    const store = failing();
    const outbox = new Outbox<object>({ store, transaction: async (work) => await work({}) });
    const { error, callers } = await callersOf(() => call(outbox));
    expect([String(error), callers]).toEqual(["Error: connection lost", BOTH]);
  });
});

describe("the stack of an error of a webhook shows the callers", () => {
  let url = "";
  const server = createServer((request, response) => {
    if (request.url === "/silent") return;
    response.writeHead(request.url === "/refused" ? 400 : 500).end();
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function failureAt(target: string, signal = new AbortController().signal) {
    const publisher = new WebhookPublisher({ url: target });
    return await callersOf(() => publisher.publish(sampleMessage(), signal));
  }

  it("when the receiver fails", async () => {
    const { error, callers } = await failureAt(`${url}/failed`);
    expect([isWebhookError(error), callers]).toEqual([true, BOTH]);
  });

  it("when the receiver refuses the message for good", async () => {
    const { error, callers } = await failureAt(`${url}/refused`);
    expect([isTerminalError(error), callers]).toEqual([true, BOTH]);
  });

  it("when there is no receiver", async () => {
    const { error, callers } = await failureAt("http://127.0.0.1:1");
    expect([isWebhookError(error), callers]).toEqual([true, BOTH]);
  });
});
