import { isTerminalError } from "@holdfast/controller";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import { expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { sampleMessage } from "../sample-message.ts";

it("a Promise from allow permits nothing, and makes no message dead", async () => {
  const allow = async () => false;
  const url = () => "http://127.0.0.1:1";
  await using publisher = new WebhookPublisher({ url, allow: allow as never });
  const { signal } = new AbortController();
  const error = await errorOf(publisher.publish(sampleMessage(), signal));
  expect([String(error), isTerminalError(error)]).toEqual([
    "TypeError: options.allow(url) must return true or false, got a Promise",
    false,
  ]);
});
