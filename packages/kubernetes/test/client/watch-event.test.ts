import type { ApiError } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { readEvent } from "../../src/client/watch-event.ts";

const request = { method: "GET", path: "/apis/example.org/v1/greetings" } as const;
const WATCH = "the watch GET /apis/example.org/v1/greetings";

const read = (line: unknown) => readEvent(Buffer.from(JSON.stringify(line)), request, "Greeting");

function errorOf(line: unknown): ApiError {
  try {
    read({ type: "ERROR", object: line });
  } catch (error) {
    return error as ApiError;
  }
  throw new Error("it was read");
}

describe("a line of a watch", () => {
  it("is an event with its object, or a bookmark with its version", () => {
    const metadata = { name: "ann", uid: "u1", resourceVersion: "7" };
    expect(read({ type: "ADDED", object: { metadata } })).toMatchObject({
      type: "ADDED",
      object: { metadata },
    });
    const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } };
    expect(read(bookmark)).toEqual({ type: "BOOKMARK", version: "9" });
  });

  it.each([null, 7, "text", true])("is no event: %j", (line) => {
    expect(() => read(line)).toThrow(`${WATCH} sent a line that is not a JSON object`);
  });

  it("that is no JSON is an error without its content", () => {
    const secret = Buffer.from('{"data":"c2VjcmV0"');
    expect(() => readEvent(secret, request, "Greeting")).toThrow(
      `${WATCH} sent a line of 18 bytes that is not JSON`,
    );
  });

  it.each([undefined, null, {}, { metadata: null }, { metadata: { resourceVersion: "" } }])(
    "is no bookmark with %j",
    (object) => {
      expect(() => read({ type: "BOOKMARK", object })).toThrow(
        `${WATCH} sent a bookmark without a version`,
      );
    },
  );

  it.each([undefined, "CHANGED", 1])("of the type %j is an error", (type) => {
    expect(() => read({ type, object: {} })).toThrow(`${WATCH} sent an event of an unknown type`);
  });
});

describe("an ERROR event", () => {
  it("has the code, the reason and the message of the status", () => {
    const error = errorOf({ kind: "Status", code: 410, reason: "Expired", message: "too old" });
    expect(error).toMatchObject({ status: 410, reason: "Expired", method: "GET" });
    expect(error.message).toContain("too old");
  });

  it.each([undefined, "410", null])("with the code %j has the code 0", (code) => {
    expect(errorOf({ kind: "Status", code }).status).toBe(0);
  });

  it.each([
    [3, 3_000],
    [0, undefined],
    [-1, undefined],
    ["3", undefined],
    [undefined, undefined],
  ])("names %j s as %j ms to wait", (retryAfterSeconds, expected) => {
    const error = errorOf({ kind: "Status", code: 429, details: { retryAfterSeconds } });
    expect(error.retryAfter).toBe(expected);
  });

  it("may have no status", () => {
    expect(errorOf(undefined).status).toBe(0);
  });
});
