import { FakeClock } from "@holdfast/clock/testing";
import * as prometheus from "@holdfast/outbox/prometheus";
import { OutboxMetrics } from "@holdfast/outbox/prometheus";
import * as rabbitmq from "@holdfast/outbox/rabbitmq";
import {
  isRefusedError,
  isUnconfirmedError,
  isUnroutableError,
  RabbitPublisher,
  RefusedError,
  UnconfirmedError,
  UnroutableError,
} from "@holdfast/outbox/rabbitmq";
import { MemoryStore } from "@holdfast/outbox/testing";
import * as webhook from "@holdfast/outbox/webhook";
import {
  isUnverifiedError,
  isWebhookError,
  UnverifiedError,
  WebhookError,
  WebhookPublisher,
  WebhookVerifier,
} from "@holdfast/outbox/webhook";
import type { BackoffOptions } from "@holdfast/wait";
import { Registry } from "prom-client";
import { expect } from "vitest";
import {
  above,
  all,
  between,
  constructs,
  except,
  finiteFrom,
  flag,
  func,
  type Kind,
  object,
  optionsOf,
  outside,
  positive,
  required,
  string,
  testBadInput,
  testEveryExport,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { OUTBOX_METRICS_OPTIONS } from "../src/prometheus/outbox-metrics.ts";
import { RABBIT_PUBLISHER_OPTIONS } from "../src/rabbitmq/rabbit-publisher.ts";
import { REFUSED_ERROR_OPTIONS } from "../src/rabbitmq/refused-error.ts";
import { UNCONFIRMED_ERROR_OPTIONS } from "../src/rabbitmq/unconfirmed-error.ts";
import { WEBHOOK_ERROR_OPTIONS } from "../src/webhook/webhook-error.ts";
import { WEBHOOK_PUBLISHER_OPTIONS } from "../src/webhook/webhook-publisher.ts";
import { WEBHOOK_VERIFIER_OPTIONS } from "../src/webhook/webhook-verifier.ts";

const clock = new FakeClock();
const register = new Registry();
const store = new MemoryStore();

const backoff: Kind = object<BackoffOptions>({
  duration: required(finiteFrom(0)),
  factor: positive,
  jitter: unchecked,
  steps: whole(0),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
});

const amqpUrl = "RangeError: options.url must be an amqp or amqps URL";
const httpUrl =
  "RangeError: options.url must be an http or https URL without a user and a password";

const secrets: Kind = all(
  except(null, "TypeError: options.secrets must be an array, got null"),
  except(1, "TypeError: options.secrets must be an array, got 1"),
  except([], "RangeError: options.secrets must hold at least one secret"),
  except([1], "TypeError: options.secrets[0] must be a string, got 1"),
  except(
    "s3cret",
    'RangeError: options.secrets must be "whsec_" and the base64 of 24 to 64 random bytes',
  ),
);

const doors = [
  constructs(
    RabbitPublisher,
    [{ url: "amqp://127.0.0.1:9", clock, backoff: { duration: 10 } }],
    [
      "options",
      required(
        optionsOf(RABBIT_PUBLISHER_OPTIONS, {
          amqpUrl: all(
            string,
            ...["", "localhost", "http://s3cret@localhost"].map((url) => except(url, amqpUrl)),
          ),
          channels: all(between(1, 2_047), outside("a whole number of at least 1", 1.5)),
          backoff: all(
            backoff,
            except(
              { delayFunc: 1 },
              "TypeError: options.backoff must have a method delayFunc(), got [object Object]",
            ),
          ),
        }),
      ),
    ],
  ),
  constructs(
    WebhookPublisher,
    [{ url: "http://127.0.0.1:9" }],
    [
      "options",
      required(
        optionsOf(WEBHOOK_PUBLISHER_OPTIONS, {
          httpUrl: all(
            string,
            ...["", "hooks", "ftp://receiver/", "http://shop:s3cret@receiver/"].map((url) =>
              except(url, httpUrl),
            ),
          ),
          headers: all(
            except("1", "TypeError: options.headers must be an object, got a string"),
            except(1, "TypeError: options.headers must be an object, got 1"),
          ),
          secrets,
        }),
      ),
    ],
  ),
  constructs(
    WebhookVerifier,
    [{ secrets: `whsec_${"A".repeat(32)}` }],
    ["options", required(optionsOf(WEBHOOK_VERIFIER_OPTIONS, { secrets }))],
  ),
  constructs(
    OutboxMetrics,
    [{ store, register }],
    ["options", required(optionsOf(OUTBOX_METRICS_OPTIONS))],
  ),
];

const errorDoors = [
  constructs(
    WebhookError,
    ["refused"],
    ["message", unchecked],
    ["options", optionsOf(WEBHOOK_ERROR_OPTIONS)],
  ),
  constructs(
    UnconfirmedError,
    ["the channel closed"],
    ["why", unchecked],
    ["options", optionsOf(UNCONFIRMED_ERROR_OPTIONS)],
  ),
  constructs(
    RefusedError,
    [403],
    ["replyCode", unchecked],
    ["options", optionsOf(REFUSED_ERROR_OPTIONS)],
  ),
];

testBadInput([...doors, ...errorDoors], () => {
  expect(clock.waiters()).toBe(0);
  expect(register.getMetricsAsArray()).toEqual([]);
});

testEveryExport(
  new URL("../api/", import.meta.url),
  { prometheus, rabbitmq, webhook },
  [...doors, ...errorDoors],
  [
    // The guards answer for every value; the errors take what the classes above make.
    ...[isRefusedError, isUnconfirmedError, isUnroutableError, isWebhookError],
    ...[isUnverifiedError, UnroutableError, UnverifiedError],
  ],
);
