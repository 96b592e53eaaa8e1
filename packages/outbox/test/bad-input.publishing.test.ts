import { FakeClock } from "@holdfast/clock/testing";
import * as prometheus from "@holdfast/outbox/prometheus";
import { OutboxMetrics, type OutboxMetricsOptions } from "@holdfast/outbox/prometheus";
import * as rabbitmq from "@holdfast/outbox/rabbitmq";
import {
  isRefusedError,
  isUnconfirmedError,
  isUnroutableError,
  RabbitPublisher,
  type RabbitPublisherOptions,
  RefusedError,
  type RefusedErrorOptions,
  UnconfirmedError,
  type UnconfirmedErrorOptions,
  UnroutableError,
} from "@holdfast/outbox/rabbitmq";
import { MemoryStore } from "@holdfast/outbox/testing";
import * as webhook from "@holdfast/outbox/webhook";
import {
  isWebhookError,
  WebhookError,
  type WebhookErrorOptions,
  WebhookPublisher,
  type WebhookPublisherOptions,
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
  methods,
  object,
  outside,
  positive,
  required,
  string,
  testBadInput,
  testEveryExport,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";

const clock = new FakeClock();
const register = new Registry();
const store = new MemoryStore();

const clockKind: Kind = methods("monotonic", "newTimer", "afterFunc", "sleep");

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

const doors = [
  constructs(
    RabbitPublisher,
    [{ url: "amqp://127.0.0.1:9", clock, backoff: { duration: 10 } }],
    [
      "options",
      required(
        object<RabbitPublisherOptions>({
          url: required(
            all(
              string,
              ...["", "localhost", "http://s3cret@localhost"].map((url) => except(url, amqpUrl)),
            ),
          ),
          route: func,
          channels: all(between(1, 2_047), outside("a whole number of at least 1", 1.5)),
          backoff: all(
            backoff,
            except(
              { delayFunc: 1 },
              "TypeError: options.backoff must have a method delayFunc(), got [object Object]",
            ),
          ),
          onError: func,
          clock: clockKind,
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
        object<WebhookPublisherOptions>({
          url: required(
            all(
              string,
              ...["", "hooks", "ftp://receiver/", "http://shop:s3cret@receiver/"].map((url) =>
                except(url, httpUrl),
              ),
            ),
          ),
          headers: all(
            except("1", 'TypeError: options.headers must be an object, got "1"'),
            except(1, "TypeError: options.headers must be an object, got 1"),
          ),
          allow: func,
          isTerminal: func,
          describe: func,
          clock: methods("now"),
        }),
      ),
    ],
  ),
  constructs(
    OutboxMetrics,
    [{ store, register }],
    [
      "options",
      required(
        object<OutboxMetricsOptions>({
          store: required(methods("backlog", "nextDue")),
          register: methods("registerMetric", "metrics"),
          storeTimeout: positive,
          clock: clockKind,
        }),
      ),
    ],
  ),
];

const errorDoors = [
  constructs(
    WebhookError,
    ["refused"],
    ["message", unchecked],
    ["options", object<WebhookErrorOptions>({ status: unchecked, cause: unchecked })],
  ),
  constructs(
    UnconfirmedError,
    ["the channel closed"],
    ["why", unchecked],
    ["options", object<UnconfirmedErrorOptions>({ cause: unchecked })],
  ),
  constructs(
    RefusedError,
    [403],
    ["replyCode", unchecked],
    ["options", object<RefusedErrorOptions>({ cause: unchecked })],
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
    ...[UnroutableError],
  ],
);
