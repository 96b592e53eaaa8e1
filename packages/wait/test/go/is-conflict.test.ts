import { isConflict } from "@holdfast/wait/go";
import { describe, expect, it } from "vitest";

/** What a server answers. */
const status = (code: number, reason?: string) => ({
  kind: "Status",
  status: "Failure",
  code,
  reason,
});

/** As @kubernetes/client-node 1.x makes it. */
class ApiException extends Error {
  readonly code: number;
  readonly body: unknown;
  constructor(code: number, body?: unknown) {
    super(`HTTP-Code: ${code}`);
    this.code = code;
    this.body = body;
  }
}

/** As @kubernetes/client-node 0.x makes it. */
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

describe("a conflict", () => {
  it.each([
    {
      name: "of client-node 1.x",
      error: new ApiException(409, JSON.stringify(status(409, "Conflict"))),
    },
    {
      name: "of client-node 1.x, without a reason",
      error: new ApiException(409, JSON.stringify(status(409))),
    },
    {
      name: "of client-node 1.x, with a page of a proxy",
      error: new ApiException(409, "<html>409</html>"),
    },
    { name: "of client-node 1.x, without a body", error: new ApiException(409) },
    { name: "of client-node 1.x, with null for a body", error: new ApiException(409, "null") },
    { name: "of client-node 0.x", error: new HttpError(409, status(409, "Conflict")) },
    { name: "by the code in the body alone", error: { body: status(409) } },
    { name: "by its reason alone", error: { body: status(0, "Conflict") } },
    { name: "that is the status itself", error: status(409, "Conflict") },
    { name: "with a reason that nobody knows", error: status(409, "Brawl") },
  ])("is one $name", ({ error }) => {
    expect(isConflict(error)).toBe(true);
  });

  const text = () => JSON.stringify(status(409, "Conflict"));

  it.each([
    {
      name: "what exists already",
      error: new ApiException(409, JSON.stringify(status(409, "AlreadyExists"))),
    },
    {
      name: "what exists already, of client-node 0.x",
      error: new HttpError(409, status(409, "AlreadyExists")),
    },
    {
      name: "what is not found",
      error: new ApiException(404, JSON.stringify(status(404, "NotFound"))),
    },
    { name: "a plain error", error: new Error("409 Conflict") },
    { name: "a code of Node", error: Object.assign(new Error("x"), { code: "ECONNRESET" }) },
    { name: "a code in text", error: { code: "409" } },
    {
      name: "a body that is not text",
      error: { body: Object.assign(() => {}, { toString: text }) },
    },
    { name: "undefined", error: undefined },
    { name: "null", error: null },
    { name: "409", error: 409 },
  ])("is not $name", ({ error }) => {
    expect(isConflict(error)).toBe(false);
  });
});
