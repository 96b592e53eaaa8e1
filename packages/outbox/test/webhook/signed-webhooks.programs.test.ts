import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { FakeClock } from "@holdfast/clock/testing";
import {
  isWebhookError,
  WebhookPublisher,
  type WebhookPublisherOptions,
  WebhookVerifier,
} from "@holdfast/outbox/webhook";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { sampleMessage } from "../sample-message.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 900);
const OLD = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const NEW = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const { signal } = new AbortController();

interface Request {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let url: string;
let requests: Request[];
let status: number;

beforeEach(async () => {
  requests = [];
  status = 204;
  server = createServer(async (request, response) => {
    requests.push({ headers: request.headers, body: await text(request) });
    response.writeHead(status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
});

afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

async function signed(
  options: Partial<WebhookPublisherOptions>,
  message = sampleMessage(),
): Promise<Request> {
  await using publisher = new WebhookPublisher({ url, ...options });
  await publisher.publish(message, signal);
  return requests.at(-1) as Request;
}

describe("a signed webhook", () => {
  it.each([[null], [""], ["é 💡\u2028"], [{ order: 4711 }], [0.5], [[]]])(
    "with the payload %j is verified by us and by standardwebhooks, with the old secret and the new one",
    async (payload) => {
      const clock = new FakeClock({ now: NOW });
      vi.spyOn(Date, "now").mockReturnValue(NOW);
      const message = sampleMessage({ payload });
      const { headers, body } = await signed({ secrets: [NEW, OLD], clock }, message);
      for (const secret of [OLD, NEW]) {
        const verifier = new WebhookVerifier({ secrets: secret, clock });
        expect(verifier.verify(body, headers)).toEqual({ id: message.id, timestamp: NOW - 900 });
        const other = headers as Record<string, string>;
        expect(new Webhook(secret).verify(body, other)).toEqual(payload);
      }
    },
  );

  it("is signed anew in each attempt, with the same id", async () => {
    const clock = new FakeClock({ now: NOW });
    const message = sampleMessage();
    await using publisher = new WebhookPublisher({ url, secrets: OLD, clock });
    status = 500;
    expect(await errorOf(publisher.publish(message, signal))).toSatisfy(isWebhookError);
    await clock.step(3_600_000);
    status = 204;
    await publisher.publish(message, signal);
    expect(requests.map(({ headers }) => headers["webhook-id"])).toEqual([message.id, message.id]);
    const times = requests.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(times).toEqual([Math.floor(NOW / 1_000), Math.floor(NOW / 1_000) + 3_600]);
    const verifier = new WebhookVerifier({ secrets: OLD, clock });
    const [first, second] = requests as [Request, Request];
    expect(verifier.verify(second.body, second.headers).id).toBe(message.id);
    expect(() => verifier.verify(first.body, first.headers)).toThrow(/signed 3600 s ago/);
  });

  it("keeps its headers, whatever the message and `headers` say", async () => {
    const forged = {
      "Webhook-Id": "forged",
      "webhook-TIMESTAMP": "1",
      "webhook-signature": "v1,AAAA",
    };
    const message = sampleMessage({ headers: forged });
    const { headers, body } = await signed({ secrets: OLD, headers: forged }, message);
    expect(new WebhookVerifier({ secrets: OLD }).verify(body, headers).id).toBe(message.id);
  });

  it("takes the secrets of a message from a function, also later", async () => {
    const seen: unknown[] = [];
    const message = sampleMessage();
    const secrets: WebhookPublisherOptions["secrets"] = async ({ topic }, request) => {
      seen.push([topic, request.url.href, request.signal.aborted]);
      return [NEW];
    };
    const options = { url: () => url, allow: () => true, secrets };
    const { headers, body } = await signed(options, message);
    expect(seen).toEqual([[message.topic, url, false]]);
    expect(new WebhookVerifier({ secrets: NEW }).verify(body, headers).id).toBe(message.id);
  });

  it("is not sent without a valid secret, and no error repeats it", async () => {
    const answers: readonly [unknown, string][] = [
      [[], "RangeError: secrets(message) must hold at least one secret"],
      [undefined, "TypeError: secrets(message) must be an array, got undefined"],
      [
        ["whsec_s3cret"],
        'RangeError: secrets(message)[0] must be "whsec_" and the base64 of 24 to 64 random bytes',
      ],
    ];
    for (const [answer, expected] of answers) {
      const error = await errorOf(signed({ secrets: () => answer as string }));
      expect(String(error)).toBe(expected);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");
    }
    const failure = new Error("vault is sealed");
    expect(await errorOf(signed({ secrets: () => Promise.reject(failure) }))).toBe(failure);
    expect(requests).toEqual([]);
  });

  it("leaves nothing of its secrets in an error, a log or the publisher", async () => {
    status = 500;
    await using publisher = new WebhookPublisher({ url, secrets: [OLD, NEW] });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    server.closeAllConnections();
    server.close();
    const unreachable = await errorOf(publisher.publish(sampleMessage(), signal));
    const shown = inspect([error, unreachable, publisher], { depth: 9, showHidden: true });
    for (const secret of [OLD, NEW]) expect(shown).not.toContain(secret.slice(6, 20));
    expect(shown).not.toMatch(/v1,/);
  });

  it("is not signed for every host that a message names", () => {
    expect(() => new WebhookPublisher({ url: () => url, secrets: OLD })).toThrow(
      new TypeError(
        "options.secrets must be a function if options.url is one: each host that a message names could pass its requests on to the others",
      ),
    );
  });
});
