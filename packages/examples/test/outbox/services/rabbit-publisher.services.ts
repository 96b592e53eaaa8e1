import { getEventListeners, once } from "node:events";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { type Channel, connect } from "amqplib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RabbitServer } from "../../../../../services/rabbitmq.mjs";
import type { Message } from "../../../src/outbox/message/message.ts";
import { isUnconfirmedError } from "../../../src/outbox/publish/unconfirmed-error.ts";
import { isUnroutableError } from "../../../src/outbox/publish/unroutable-error.ts";
import { RabbitPublisher } from "../../../src/outbox/publish/rabbit-publisher.ts";
import { sampleMessage } from "../sample-message.ts";

const { signal } = new AbortController();
