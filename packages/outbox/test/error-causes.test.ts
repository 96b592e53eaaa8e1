import { ForgottenLeaseError, isForgottenLeaseError } from "@holdfast/controller/redis-lock";
import {
  isRefusedError,
  isUnconfirmedError,
  isUnroutableError,
  RefusedError,
  UnconfirmedError,
  UnroutableError,
} from "@holdfast/outbox/rabbitmq";
import { isStaleFenceError, StaleFenceError } from "@holdfast/outbox/store";
import {
  isUnverifiedError,
  isWebhookError,
  UnverifiedError,
  WebhookError,
} from "@holdfast/outbox/webhook";
import { TimeoutError } from "@holdfast/wait";
import { expect, it } from "vitest";

it.each<[name: string, is: (error: unknown) => boolean, error: Error]>([
  ["isStaleFenceError", isStaleFenceError, new StaleFenceError({ name: "a", token: 1 })],
  ["isRefusedError", isRefusedError, new RefusedError(403)],
  ["isUnconfirmedError", isUnconfirmedError, new UnconfirmedError("closed")],
  [
    "isUnroutableError",
    isUnroutableError,
    new UnroutableError({ exchange: "a", routingKey: "b" }, "queue"),
  ],
  ["isUnverifiedError", isUnverifiedError, new UnverifiedError("time", "old")],
  ["isWebhookError", isWebhookError, new WebhookError("no")],
  ["isForgottenLeaseError", isForgottenLeaseError, new ForgottenLeaseError("lock", 1)],
])("%s follows causes, but not that of a timeout", (_, is, error) => {
  const wrapped = new Error("outer", { cause: new Error("inner", { cause: error }) });
  expect(
    [error, wrapped, new TimeoutError(1, { cause: error }), new Error("no")].map((one) => is(one)),
  ).toEqual([true, true, false, false]);
});
