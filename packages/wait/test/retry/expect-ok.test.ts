import { FakeClock } from "@holdfast/clock/testing";
import {
  expectOk,
  findError,
  HttpError,
  isHttpError,
  isRetryAfterError,
  isTerminalError,
  poll,
  RetryAfterError,
  retry,
  withTimeout,
} from "@holdfast/wait";
import { describe, expect, it, vi } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";

const URL_WITH_SECRETS = "https://user:password@api.example.com/v1/pods?token=secret#fragment";

function answer(
  status: number,
  init: { body?: string | ReadableStream; headers?: Record<string, string> } = {},
) {
  const { body = null, headers = {} } = init;
  const response = new Response(body, { status, headers });
  return Object.defineProperty(response, "url", { value: URL_WITH_SECRETS });
}

const failure = async (response: Response): Promise<Error> =>
  expectOk(response, { request: {} }).then(
    () => expect.unreachable(),
    (error: Error) => error,
  );

it.each([200, 201, 204, 299])(
  "returns a response of status %d, its body unread",
  async (status) => {
    const response = answer(status, status === 204 ? {} : { body: "hello" });
    expect(await expectOk(response)).toBe(response);
    expect(response.bodyUsed).toBe(false);
  },
);

it.each([408, 425, 429, 500, 502, 503, 504, 599])(
  "throws a retryable error for status %d",
  async (status) => {
    const error = await failure(answer(status, { body: "busy" }));
    expect([isTerminalError(error), isRetryAfterError(error)]).toEqual([false, false]);
    expect(error.message).toBe(`HTTP ${status} from https://api.example.com: busy`);
  },
);

it("repeats nothing of a body, and no path, unless it is told", async () => {
  const cancel = vi.fn();
  const body = new ReadableStream({ cancel });
  const response = answer(403, { body });
  const error = await expectOk(response).catch((one: unknown) => one);
  expect((error as Error).message).toBe("HTTP 403 from https://api.example.com");
  expect(cancel).toHaveBeenCalledOnce();
  const describe = ({ pathname }: URL): string => pathname;
  const told = await expectOk(answer(403), { describe }).catch((one: unknown) => one);
  expect((told as Error).message).toBe("HTTP 403 from /v1/pods");
});

it.each([
  ["a Request", new Request("https://api.example.com", { headers: { "X-Api-Key": "s3cret" } })],
  ["Headers", { headers: new Headers({ "X-Api-Key": "s3cret" }) }],
  ["pairs", { headers: [["X-Api-Key", "s3cret"]] }],
  ["a record", { headers: { "X-Api-Key": ["s3cret"], Accept: "text/plain" } }],
])(
  "takes the headers of %s out of the body, and the path, but nothing else",
  async (_, request) => {
    const body = "text/plain: key s3cret is not for /v1/pods";
    const error = await expectOk(answer(401, { body }), { request }).catch((one: unknown) => one);
    expect((error as Error).message).toBe(
      "HTTP 401 from https://api.example.com: text/plain: key [hidden] is not for [hidden]",
    );
  },
);

it.each([301, 304, 400, 401, 403, 404, 409, 410, 422, 428, 431, 451])(
  "throws a TerminalError for status %d, with and without Retry-After",
  async (status) => {
    const error = await failure(answer(status, { headers: { "Retry-After": "5" } }));
    expect([isTerminalError(error), isRetryAfterError(error)]).toEqual([true, false]);
    expect(error.message).toBe(`HTTP ${status} from https://api.example.com`);
  },
);

it.each([429, 503])(
  "throws a RetryAfterError with the delay of Retry-After for status %d",
  async (status) => {
    const error = await failure(answer(status, { headers: { "Retry-After": "5" }, body: "busy" }));
    expect(RetryAfterError.delayOf(error)).toBe(5_000);
    expect(error.message).toBe(`HTTP ${status} from https://api.example.com: busy`);
  },
);

it("compares a date in Retry-After with options.clock", async () => {
  const clock = new FakeClock();
  const date = new Date(clock.now() + 90_000).toUTCString();
  const response = answer(503, { headers: { "Retry-After": date } });
  const error = await expectOk(response, { clock }).catch((reason: unknown) => reason);
  expect(RetryAfterError.delayOf(error)).toBe(90_000);
});

it("ignores a malformed Retry-After", async () => {
  const error = await failure(answer(503, { headers: { "Retry-After": "soon" } }));
  expect(RetryAfterError.delayOf(error)).toBeUndefined();
});

it("omits credentials, query and fragment from the message", async () => {
  const { message } = await failure(answer(404));
  expect(message).not.toMatch(/password|secret|fragment/);
});

it("omits a missing URL from the message", async () => {
  expect((await failure(new Response("no", { status: 404 }))).message).toBe("HTTP 404: no");
});

it("puts at most 1 kB of the body into the message and cancels the rest", async () => {
  const cancel = vi.fn();
  const chunk = new TextEncoder().encode("x".repeat(700));
  const body = new ReadableStream({ pull: (stream) => stream.enqueue(chunk), cancel });
  const { message } = await failure(answer(500, { body }));
  expect(message.match(/x+/g)?.at(-1)).toBe("x".repeat(1_024));
  expect(cancel).toHaveBeenCalledTimes(1);
});

it("joins the chunks of a short body, also within a character", async () => {
  const bytes = new TextEncoder().encode("caf\u00e9 is full");
  const chunks = [bytes.slice(0, 4), bytes.slice(4)];
  const body = new ReadableStream({
    pull(stream) {
      const chunk = chunks.shift();
      if (chunk === undefined) stream.close();
      else stream.enqueue(chunk);
    },
  });
  expect((await failure(answer(500, { body }))).message).toMatch(/: caf\u00e9 is full$/);
});

it("replaces control characters of the body", async () => {
  const { message } = await failure(answer(500, { body: "one\r\ntwo\u0000\u001b[31mthree" }));
  expect(message).toMatch(/: one two \[31mthree$/);
});

it.each(["009b", "061c", "200f", "202e", "2066", "2028"])(
  "replaces U+%s of the body, which moves the rest of a line",
  async (code) => {
    const one = String.fromCharCode(Number.parseInt(code, 16));
    const { message } = await failure(answer(500, { body: `one${one}two` }));
    expect(message).toMatch(/: one two$/);
  },
);

it("throws for the status even if the body cannot be read", async () => {
  const read = answer(404, { body: "gone" });
  await read.text();
  const broken = new ReadableStream({
    pull() {
      throw new Error("connection reset");
    },
  });
  for (const response of [read, answer(404, { body: broken })])
    expect((await failure(response)).message).toBe("HTTP 404 from https://api.example.com");
});

it("does not wait for the cancellation of the body", async () => {
  const chunk = new TextEncoder().encode("y".repeat(2_000));
  const body = new ReadableStream({
    pull: (stream) => stream.enqueue(chunk),
    cancel: () => Promise.reject(new Error("still open")),
  });
  expect((await failure(answer(503, { body }))).message).toMatch(/y{1024}$/);
});

it.each([
  [401, {}],
  [404, {}],
  [409, {}],
  [503, {}],
  [429, { "Retry-After": "5" }],
])("names the status %i in a field and for the finder", async (status, headers) => {
  const error = await failure(answer(status, { headers }));
  expect([isHttpError(error), findError(error, HttpError)?.status]).toEqual([true, status]);
  expect(error).toHaveProperty("status", status);
});

it.each([
  ["20 ms", undefined, 20],
  ["20 ms, of a signal without a known end", new AbortController().signal, 20],
  ["100 ms", 60_000, 100],
  ["half of the time that is left", 90, 45],
  ["no time, of an aborted signal", AbortSignal.abort(), 0],
] as const)(
  "throws for the status after %s if the body stalls, with what came",
  async (_, limit, duration) => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const cancel = vi.fn();
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode("no such ")),
      cancel,
    });
    const ask = (signal?: AbortSignal) =>
      expectOk(answer(404, { body }), { clock, request: { signal } });
    const asked = typeof limit === "number" ? withTimeout(ask, limit, { clock }) : ask(limit);
    const error = await clock.run(() => asked.catch((reason: unknown) => reason));
    expect(clock.monotonic() - start).toBe(duration);
    expect(isTerminalError(error)).toBe(true);
    if (duration > 0) expect((error as Error).message).toMatch(/^HTTP 404 from .*: no such$/);
    expect([cancel.mock.calls.length, clock.waiters()]).toEqual([1, 0]);
  },
);

it("throws for the status of a body whose chunks are empty and never end", async () => {
  let chunks = 0;
  const body = new ReadableStream({
    pull(stream) {
      if (++chunks > 10_000) stream.error(new Error("read on and on"));
      else stream.enqueue(new Uint8Array());
    },
  });
  const error = await errorOf(expectOk(answer(404, { body }), { request: {} }));
  expect(isTerminalError(error)).toBe(true);
  expect(chunks).toBeLessThan(1_100);
});

it("leaves no timer when the body is read in time", async () => {
  const clock = new FakeClock();
  await expectOk(answer(500, { body: "busy" }), { clock, request: {} }).catch(() => {});
  expect(clock.waiters()).toBe(0);
});

it.each([
  ["a promise", Promise.resolve(new Response("ok"))],
  ["undefined", undefined],
])("is not called again for %s", async (_, response) => {
  let calls = 0;
  const call = retry(() => {
    calls++;
    return expectOk(response as unknown as Response);
  });
  const error = await call.catch((reason: unknown) => reason);
  expect([calls, error instanceof TypeError, isTerminalError(error)]).toEqual([1, true, true]);
  if (response) expect(String(error)).toMatch(/a Promise: await it$/);
});

describe("a body that stalls in a short attempt does not hide the status", () => {
  const stalled = (status: number, headers: Record<string, string> = {}) =>
    answer(status, { body: new ReadableStream({}), headers });

  /** The requests until a call ends, and the error it ends with. */
  async function requestsOf(
    call: (request: () => Promise<unknown>, clock: FakeClock) => Promise<unknown>,
    response: () => Response,
  ): Promise<{ readonly requests: readonly number[]; readonly error: unknown }> {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const requests: number[] = [];
    const request = async () => {
      requests.push(clock.monotonic() - start);
      return await expectOk(response(), { clock, request: {} });
    };
    const ended = call(request, clock).catch((reason: unknown) => reason);
    const error = await clock.run(() => ended);
    return { requests, error };
  }

  const doors = {
    retry: (attemptTimeout: number) => (request: () => Promise<unknown>, clock: FakeClock) =>
      retry(request, { attemptTimeout, retries: 3, clock, backoff: { duration: 100 } }),
    poll: (attemptTimeout: number) => (request: () => Promise<unknown>, clock: FakeClock) =>
      poll(request, { attemptTimeout, timeout: 20_000, clock, backoff: { duration: 100 } }),
  };

  it.each([
    ["retry", 999],
    ["retry", 101],
    ["retry", 50],
    ["retry", 1],
    ["poll", 500],
    ["poll", 50],
  ] as const)("of %s, with attempts of %i ms: one request", async (door, attemptTimeout) => {
    const { requests, error } = await requestsOf(doors[door](attemptTimeout), () => stalled(404));
    expect([requests, isTerminalError(error), findError(error, HttpError)?.status]).toEqual([
      [0],
      true,
      404,
    ]);
  });

  it.each([
    ["retry", 500, 7_020], // the body is given up after 20 ms
    ["retry", 10, 7_110], // the attempt ends after 10 ms, and the next one was due 100 ms later
    ["poll", 500, 7_020],
    ["poll", 10, 7_110],
  ] as const)(
    "of %s, with attempts of %i ms: the time in Retry-After is kept",
    async (door, attemptTimeout, second) => {
      const responses = [stalled(429, { "retry-after": "7" }), stalled(404)];
      const next = () => responses.shift() as Response;
      const { requests, error } = await requestsOf(doors[door](attemptTimeout), next);
      expect([requests, isTerminalError(error)]).toEqual([[0, second], true]);
    },
  );
});
