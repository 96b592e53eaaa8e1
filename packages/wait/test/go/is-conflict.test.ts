import { isConflict } from "@holdfast/wait/go";
import { describe, expect, it } from "vitest";

/** The answer of a server. */
const status = (code: number, reason?: string) => ({
  kind: "Status",
  status: "Failure",
  code,
  reason,
});

/** The error of @kubernetes/client-node 1.x. */
class ApiException extends Error {
  readonly code: number;
  readonly body: unknown;
  constructor(code: number, body?: unknown) {
    super(`HTTP-Code: ${code}`);
    this.code = code;
    this.body = body;
  }
}

/** The error of @kubernetes/client-node 0.x. */
class HttpError extends Error {
  override readonly name = "HttpError";
  readonly statusCode: number;
  readonly body: unknown;
  constructor(statusCode: number, body: unknown) {
    super("HTTP request failed");
    this.statusCode = statusCode;
    this.body = body;
  }
}

/** The error of @holdfast/kubernetes, whose own code is a word. */
const apiError = (status: number, reason: string) =>
  Object.assign(new Error(`PUT /x: ${status}`), {
    code: "ERR_KUBERNETES_API",
    status,
    reason,
    details: {},
  });

describe("isConflict", () => {
  it.each([
    { name: "an ApiError of @holdfast/kubernetes", error: apiError(409, "Conflict") },
    { name: "an ApiError without a reason", error: apiError(409, "") },
    {
      name: "an error of client-node 1.x",
      error: new ApiException(409, JSON.stringify(status(409, "Conflict"))),
    },
    {
      name: "an error of client-node 1.x without a reason",
      error: new ApiException(409, JSON.stringify(status(409))),
    },
    {
      name: "an error of client-node 1.x with the page of a proxy",
      error: new ApiException(409, "<html>409</html>"),
    },
    { name: "an error of client-node 1.x without a body", error: new ApiException(409) },
    {
      name: "an error of client-node 1.x with a body of null",
      error: new ApiException(409, "null"),
    },
    { name: "an error of client-node 0.x", error: new HttpError(409, status(409, "Conflict")) },
    { name: "a code in the body only", error: { body: status(409) } },
    { name: "a reason without a code", error: { body: status(0, "Conflict") } },
    { name: "a Status itself", error: status(409, "Conflict") },
    { name: "an unknown reason with the code 409", error: status(409, "Brawl") },
  ])("is true for $name", ({ error }) => {
    expect(isConflict(error)).toBe(true);
  });

  const text = () => JSON.stringify(status(409, "Conflict"));

  it.each([
    { name: "AlreadyExists in an ApiError", error: apiError(409, "AlreadyExists") },
    { name: "NotFound in an ApiError", error: apiError(404, "NotFound") },
    {
      name: "AlreadyExists",
      error: new ApiException(409, JSON.stringify(status(409, "AlreadyExists"))),
    },
    {
      name: "AlreadyExists of client-node 0.x",
      error: new HttpError(409, status(409, "AlreadyExists")),
    },
    {
      name: "NotFound",
      error: new ApiException(404, JSON.stringify(status(404, "NotFound"))),
    },
    { name: "a plain error", error: new Error("409 Conflict") },
    { name: "an error code of Node", error: Object.assign(new Error("x"), { code: "ECONNRESET" }) },
    { name: "a code in text", error: { code: "409" } },
    {
      name: "a body that is not text",
      error: { body: Object.assign(() => {}, { toString: text }) },
    },
    { name: "undefined", error: undefined },
    { name: "null", error: null },
    { name: "409", error: 409 },
  ])("is false for $name", ({ error }) => {
    expect(isConflict(error)).toBe(false);
  });
});
