import { FakeClock } from "@holdfast/clock/testing";
import * as kafka from "@holdfast/outbox/kafka";
import { KafkaPublisher } from "@holdfast/outbox/kafka";
import * as nats from "@holdfast/outbox/nats";
import { NatsPublisher } from "@holdfast/outbox/nats";
import * as opentelemetry from "@holdfast/outbox/opentelemetry";
import { OpenTelemetryOutboxMetrics } from "@holdfast/outbox/opentelemetry";
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
import { Registry } from "prom-client";
import { expect } from "vitest";
import {
  all,
  backoff,
  between,
  constructs,
  except,
  type Kind,
  methods,
  optionsOf,
  outside,
  required,
  string,
  testBadInput,
  testEveryExport,
  unchecked,
} from "../../../test/bad-input.ts";
import { newMeter } from "../../../test/metric-samples.ts";
import { KAFKA_PUBLISHER_OPTIONS } from "../src/kafka/kafka-publisher.ts";
import { NATS_PUBLISHER_OPTIONS } from "../src/nats/nats-publisher.ts";
import { OPEN_TELEMETRY_OUTBOX_METRICS_OPTIONS } from "../src/opentelemetry/open-telemetry-outbox-metrics.ts";
import { OUTBOX_METRICS_OPTIONS } from "../src/prometheus/outbox-metrics.ts";
import { REFUSED_ERROR_OPTIONS } from "../src/publisher/refused-error.ts";
import { UNCONFIRMED_ERROR_OPTIONS } from "../src/publisher/unconfirmed-error.ts";
import { RABBIT_PUBLISHER_OPTIONS } from "../src/rabbitmq/rabbit-publisher.ts";
import { RABBIT_TLS } from "../src/rabbitmq/rabbit-tls.ts";
import { WEBHOOK_ERROR_OPTIONS } from "../src/webhook/webhook-error.ts";
import { WEBHOOK_PUBLISHER_OPTIONS } from "../src/webhook/webhook-publisher.ts";
import { WEBHOOK_VERIFIER_OPTIONS } from "../src/webhook/webhook-verifier.ts";

const clock = new FakeClock();
const register = new Registry();
const store = new MemoryStore();

// They only have to be there.
const CONNECTION = { request: () => {}, publish: () => {} };
const CLIENT = { producer: () => {} };

const amqpUrl = "RangeError: options.url must be an amqp or amqps URL";
const badPem = (code: string): string =>
  `RangeError: options.tls must hold certificates, a key and its passphrase in PEM that fit together, got ${code}`;
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
            except([], "RangeError: options.url must hold at least one URL"),
            except(
              ["amqp://localhost", "s3cret"],
              "RangeError: options.url[1] must be an amqp or amqps URL",
            ),
            except(["amqp://localhost", 5], "TypeError: options.url[1] must be a string, got 5"),
          ),
          tls: all(
            optionsOf(RABBIT_TLS, { pem: unchecked, passphrase: unchecked }),
            except({ ca: "s3cret" }, badPem("ERR_OSSL_PEM_NO_START_LINE")),
            except({ cert: "s3cret", key: "s3cret" }, badPem("ERR_OSSL_PEM_NO_START_LINE")),
            except({ ca: 5 }, badPem("ERR_INVALID_ARG_TYPE")),
            except(
              { key: "s3cret" },
              "RangeError: options.tls must have both a cert and its key, or neither",
            ),
            except({}, "RangeError: options.url must be an amqps URL, as options.tls is given"),
          ),
          mandatory: all(
            except(null, "TypeError: options.mandatory must be true or false, got null"),
            except(5, "TypeError: options.mandatory must be true or false, got 5"),
          ),
          channels: all(between(1, 2_047), outside("a whole number of at least 1", 1.5)),
          backoff,
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
    NatsPublisher,
    [CONNECTION, {}],
    ["connection", required(methods("request", "publish"))],
    ["options", optionsOf(NATS_PUBLISHER_OPTIONS)],
  ),
  constructs(
    KafkaPublisher,
    [CLIENT, {}],
    ["client", required(methods("producer"))],
    ["options", optionsOf(KAFKA_PUBLISHER_OPTIONS)],
  ),
  constructs(
    OutboxMetrics,
    [{ store, register }],
    ["options", required(optionsOf(OUTBOX_METRICS_OPTIONS))],
  ),
  constructs(
    OpenTelemetryOutboxMetrics,
    [{ store, meter: newMeter().meter }],
    ["options", required(optionsOf(OPEN_TELEMETRY_OUTBOX_METRICS_OPTIONS))],
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
  { kafka, nats, opentelemetry, prometheus, rabbitmq, webhook },
  [...doors, ...errorDoors],
  [
    // The guards answer for every value; the errors take what the classes above make.
    ...[isRefusedError, isUnconfirmedError, isUnroutableError, isWebhookError],
    ...[isUnverifiedError, UnroutableError, UnverifiedError],
    "KafkaClient.producer", // of kafkajs
  ],
);
