import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Message } from "@holdfast/outbox";
import {
  isUnroutableError,
  RabbitPublisher,
  type RabbitPublisherOptions,
} from "@holdfast/outbox/rabbitmq";
import { retry } from "@holdfast/wait";
import { connect } from "amqplib";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { RabbitServer } from "../../../../services/rabbitmq.mjs";
import { errorOf } from "../../../../test/error-of.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { sampleMessage } from "../sample-message.ts";
import { idsOf, messagesFor, routeOf, TestQueue, topicOf } from "./test-queue.ts";

const { signal } = new AbortController();
const backoff = { duration: 50, factor: 2, cap: 500 };

/** Publishes each message until it is confirmed, as a relay does. */
async function deliver(publisher: RabbitPublisher, messages: readonly Message[]): Promise<void> {
  const one = (message: Message): Promise<void> =>
    retry(({ signal: own }) => publisher.publish(message, own), {
      ...{ retries: Number.POSITIVE_INFINITY, backoff, attemptTimeout: 5_000 },
    });
  await Promise.all(messages.map(one));
}

describe("RabbitPublisher with mandatory: false", () => {
  it("resolves for a message that no queue is bound for, and rejects for a missing exchange", async () => {
    const url = requiredUrl("AMQP_URL");
    await using queue = await TestQueue.make(url);
    await using publisher = new RabbitPublisher({ route: routeOf, url, mandatory: false });
    const [bound, unbound] = [queue.route, { ...queue.route, routingKey: "nobody" }];
    const missing = { ...queue.route, exchange: `${queue.name}-missing` };
    const [good, dropped, lost] = [bound, unbound, missing].map((route) =>
      sampleMessage({ topic: topicOf(route) }),
    ) as [Message, Message, Message];
    await publisher.publish(good, signal);
    await publisher.publish(dropped, signal);
    expect(await errorOf(publisher.publish(lost, signal))).toSatisfy(isUnroutableError);
    expect(idsOf(await queue.take())).toEqual([good.id]);
  });

  it("asks a function of the message", async () => {
    const url = requiredUrl("AMQP_URL");
    await using queue = await TestQueue.make(url);
    const mandatory = ({ payload }: Message): boolean => payload === "wanted";
    await using publisher = new RabbitPublisher({ route: routeOf, url, mandatory });
    const topic = topicOf({ ...queue.route, routingKey: "nobody" });
    await publisher.publish(sampleMessage({ topic, payload: "unwanted" }), signal);
    const wanted = publisher.publish(sampleMessage({ topic, payload: "wanted" }), signal);
    expect(await errorOf(wanted)).toSatisfy(isUnroutableError);
    const promises = new RabbitPublisher({ url, mandatory: (async () => true) as never });
    expect(String(await errorOf(promises.publish(sampleMessage(), signal)))).toBe(
      "TypeError: options.mandatory(message) must return true or false, got a Promise",
    );
    await promises[Symbol.asyncDispose]();
  });
});

describe("RabbitPublisher with several nodes", () => {
  it("goes on at another node when one goes away, and comes back to it", async () => {
    const starts = [RabbitServer.start(), RabbitServer.start()] as const;
    await using first = await starts[0];
    await using second = await starts[1];
    await using queue = await TestQueue.make(first.url);
    const other = await TestQueue.make(second.url, {}, queue.name);
    const losses: unknown[] = [];
    const draws = [0, 0.9]; // the first URL first
    await using publisher = new RabbitPublisher({
      ...{ url: [first.url, second.url], route: routeOf, backoff },
      random: () => draws.shift() ?? 0.5,
      onError: (error) => losses.push(error),
    });
    const [early, later, last] = [10, 10, 10].map((count) => messagesFor(queue.route, count)) as [
      readonly Message[],
      readonly Message[],
      readonly Message[],
    ];
    await deliver(publisher, early);
    await first.kill();
    await deliver(publisher, later);
    expect(idsOf(await other.take()).toSorted()).toEqual(idsOf(later).toSorted());
    await first.start();
    await second.stop();
    await deliver(publisher, last);
    const kept = [...idsOf(early), ...idsOf(last)];
    expect(idsOf(await queue.take()).toSorted()).toEqual(kept.toSorted());
    expect(losses.length).toBeGreaterThanOrEqual(2);
  });

  it("has each confirmed message in a quorum queue, however often its node is killed", async () => {
    await using broker = await RabbitServer.start();
    await using queue = await TestQueue.make(broker.url, { "x-queue-type": "quorum" });
    // RabbitMQ 3.10 gives the queue no leader again if it is killed in the first minutes of it.
    await broker.stop();
    await broker.start();
    await using publisher = new RabbitPublisher({ url: broker.url, route: routeOf, backoff });
    const messages = messagesFor(queue.route, 200);
    for (let start = 0; start < messages.length; start += 100) {
      let confirmed = 0;
      const delivery = messages.slice(start, start + 100).map(async (message) => {
        await deliver(publisher, [message]);
        confirmed++;
      });
      await expect.poll(() => confirmed, { interval: 1 }).toBeGreaterThan(0);
      await broker.kill();
      await broker.start();
      await Promise.all(delivery);
    }
    const received = idsOf(await queue.take());
    expect([...new Set(received)].toSorted()).toEqual(idsOf(messages).toSorted());
    console.log(`Quorum queue: ${received.length - messages.length} duplicates after 2 kills`);
  });
});

describe("RabbitPublisher by TLS", () => {
  const HOST = "broker.example";
  const directory = tempFolder();
  let broker: RabbitServer;
  let url: string;

  const pem = (name: string): string => readFileSync(join(directory, `${name}.pem`), "utf8");
  const key = (name: string): string => readFileSync(join(directory, `${name}.key`), "utf8");
  const certify = (name: string, ...args: readonly string[]): void => {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`, "-days", "2"];
    const request = ["req", "-x509", ...curve, "-nodes", ...files, "-subj", `/CN=${name}`, ...args];
    execFileSync("openssl", request, { cwd: directory, stdio: "pipe" });
  };

  beforeAll(async () => {
    certify("authority");
    certify("stranger");
    const signed = ["-CA", "authority.pem", "-CAkey", "authority.key"];
    certify(HOST, ...signed, "-addext", `subjectAltName=DNS:${HOST}`);
    certify("shop", ...signed);
    const port = await freePort();
    const file = (name: string): string => join(directory, name);
    broker = await RabbitServer.start(undefined, [
      `listeners.ssl.1 = 127.0.0.1:${port}`,
      `ssl_options.cacertfile = ${file("authority.pem")}`,
      `ssl_options.certfile = ${file(`${HOST}.pem`)}`,
      `ssl_options.keyfile = ${file(`${HOST}.key`)}`,
      "ssl_options.verify = verify_peer",
      "ssl_options.fail_if_no_peer_cert = true",
    ]);
    url = Object.assign(new URL(broker.url), { protocol: "amqps:", port: String(port) }).href;
    return () => broker[Symbol.asyncDispose]();
  });

  const own = () => ({ cert: pem("shop"), key: key("shop") });

  it("delivers with the authority, the certificate and the name of the broker", async () => {
    await using queue = await TestQueue.make(broker.url);
    const tls = { ...own(), ca: pem("authority"), servername: HOST };
    await using publisher = new RabbitPublisher({ url, tls, route: routeOf });
    const messages = messagesFor(queue.route, 20);
    await Promise.all(messages.map((message) => publisher.publish(message, signal)));
    expect(idsOf(await queue.take()).toSorted()).toEqual(idsOf(messages).toSorted());
    expect(inspect(publisher, { depth: 9, showHidden: true })).not.toContain("PRIVATE KEY");
  });

  it.each<[string, () => RabbitPublisherOptions["tls"], RegExp]>([
    ["without the authority", () => ({ ...own(), servername: HOST }), /certificate|issuer/],
    [
      "with another authority",
      () => ({ ...own(), ca: pem("stranger"), servername: HOST }),
      /certificate|issuer/,
    ],
    [
      "under another name",
      () => ({ ...own(), ca: pem("authority"), servername: "other.example" }),
      /does not match/,
    ],
    ["without a certificate of its own", () => ({ ca: pem("authority"), servername: HOST }), /./],
  ])("sends nothing %s", async (_, tls, expected) => {
    await using queue = await TestQueue.make(broker.url);
    const errors: unknown[] = [];
    await using publisher = new RabbitPublisher({
      ...{ url, tls: tls(), route: routeOf, backoff },
      onError: (error) => errors.push(error),
    });
    const [message] = messagesFor(queue.route, 1) as [Message];
    const stop = new AbortController();
    const outcome = errorOf(publisher.publish(message, stop.signal));
    await expect.poll(() => errors).not.toEqual([]);
    stop.abort("enough");
    expect(await outcome).toBe("enough");
    const text = inspect(errors, { depth: 9 });
    expect(text).toMatch(expected);
    expect(text).not.toContain("PRIVATE KEY");
    expect(await queue.take()).toEqual([]);
  });

  it("refuses a key that does not fit its certificate, without showing it", () => {
    const make = (): RabbitPublisher =>
      new RabbitPublisher({ url, tls: { cert: pem("shop"), key: key("stranger") } });
    expect(make).toThrow(
      /^options\.tls must hold certificates.*ERR_OSSL_X509_KEY_VALUES_MISMATCH$/,
    );
  });

  it("is what the broker insists on", async () => {
    await expect(connect(url, { rejectUnauthorized: false })).rejects.toThrow();
  });
});
