import { FakeClock } from "@holdfast/clock/testing";
import { ApiError, BodyTooLongError, builtIn, KubeClient } from "@holdfast/kubernetes";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import type { ApiRequest } from "../../src/client/api-request.ts";
import { listPages } from "../../src/client/list-pages.ts";
import { failure, scriptedTransport } from "./scripted-transport.ts";

const tooLong = new BodyTooLongError("too long");
const gone = new ApiError({
  status: 410,
  reason: "Expired",
  message: "",
  details: {},
  method: "GET",
  path: "/x",
});

const page = (version: string, next: string | undefined, ...uids: string[]) => ({
  metadata: { resourceVersion: version, continue: next },
  items: uids.map((uid) => ({ metadata: { uid } })),
});

/** Reads a list from a script. The last step is repeated. */
async function read(pageSize: number, ...steps: readonly (object | Error)[]) {
  const asked: unknown[] = [];
  const send = ({ query }: ApiRequest): Promise<object> => {
    const step = steps[Math.min(asked.length, steps.length - 1)] as object | Error;
    asked.push([query?.["limit"], query?.["continue"]]);
    return step instanceof Error ? Promise.reject(step) : Promise.resolve(step);
  };
  const pages: unknown[] = [];
  const list = { path: "/x", query: { labelSelector: "a=b" }, pageSize };
  const error = await errorOf(
    (async () => {
      for await (const { items, resourceVersion, isRestart } of listPages(send, list))
        pages.push([resourceVersion, items.length, isRestart]);
    })(),
  );
  return { asked, pages, error };
}

describe("listPages", () => {
  it("reads page after page", async () => {
    const { asked, pages } = await read(
      2,
      page("7", "x", "1", "2"),
      page("7", "y", "3", "4"),
      page("7", "", "5"),
    );
    expect(asked).toEqual([
      [2, undefined],
      [2, "x"],
      [2, "y"],
    ]);
    expect(pages).toEqual([
      ["7", 2, false],
      ["7", 2, false],
      ["7", 1, false],
    ]);
  });

  it("begins again without a limit after 410", async () => {
    const { asked, pages } = await read(
      1,
      page("7", "x", "1"),
      gone,
      page("9", undefined, "1", "2"),
    );
    expect(asked).toEqual([
      [1, undefined],
      [1, "x"],
      [undefined, undefined],
    ]);
    expect(pages).toEqual([
      ["7", 1, false],
      ["9", 2, true],
    ]);
  });

  it("begins again in pages if the whole list is too long", async () => {
    const { asked, pages, error } = await read(
      4,
      tooLong,
      page("7", "x", "1", "2"),
      gone,
      tooLong,
      page("9", "x", "1", "2"),
      page("9", "y", "3"),
      gone,
      page("11", "x", "1", "2"),
      page("11", undefined, "3"),
    );
    expect(error).toBeUndefined();
    expect(asked).toEqual([
      [4, undefined],
      [2, undefined],
      [2, "x"],
      [undefined, undefined],
      [2, undefined],
      [2, "x"],
      [2, "y"],
      [2, undefined],
      [2, "x"],
    ]);
    expect(pages).toEqual([
      ["7", 2, false],
      ["9", 2, true],
      ["9", 1, false],
      ["11", 2, true],
      ["11", 1, false],
    ]);
  });

  it("ends with a 410 if the list has begun again five times", async () => {
    const expiring = [page("7", "x", "1"), gone];
    const more = [1, 2, 3, 4, 5].flatMap(() => expiring);
    const { asked, error } = await read(1, ...expiring, tooLong, ...more);
    expect(error).toBe(gone);
    expect(asked.filter((one) => (one as unknown[])[1] === undefined)).toHaveLength(1 + 1 + 5);
  });

  it("ends with a 410 to the first page, and to a list without a limit", async () => {
    expect(await read(1, gone)).toMatchObject({ asked: [[1, undefined]], error: gone });
    const again = await read(1, page("7", "x", "1"), gone, gone);
    expect(again.asked).toHaveLength(3);
    expect(again.error).toBe(gone);
    const paged = await read(1, page("7", "x", "1"), gone, page("9", "y", "1"), gone);
    expect(paged.asked).toHaveLength(4);
    expect(paged.error).toBe(gone);
  });

  it("requests half of a page that is too long, down to one object", async () => {
    const { asked, error } = await read(5, page("7", "x", "1"), tooLong);
    expect(asked).toEqual([
      [5, undefined],
      [5, "x"],
      [3, "x"],
      [2, "x"],
      [1, "x"],
    ]);
    expect(error).toBe(tooLong);
  });

  it("keeps the smaller limit for the pages after it", async () => {
    const { asked } = await read(4, tooLong, page("7", "x", "1"), page("7", undefined, "2"));
    expect(asked).toEqual([
      [4, undefined],
      [2, undefined],
      [2, "x"],
    ]);
  });

  it("treats a list of null as empty, with a version or without", async () => {
    expect((await read(1, { metadata: {}, items: null })).pages).toEqual([["", 0, false]]);
    expect((await read(1, { ...page("7", ""), items: null })).pages).toEqual([["7", 0, false]]);
  });

  it.each([
    ["no items", { metadata: { resourceVersion: "7" } }],
    ["items that are not an array", { ...page("7", ""), items: {} }],
    ["a version that is not a string", { items: [], metadata: { resourceVersion: 7 } }],
    ["a token that is not a string", { items: [], metadata: { continue: 7 } }],
  ])("rejects a response with %s: it is not an empty list", async (_name, answer) => {
    const { pages, error } = await read(1, answer);
    expect(pages).toEqual([]);
    expect(error).toEqual(new TypeError("the response to GET /x must be a list, got none"));
  });
});

describe("client.list", () => {
  it("yields each object once when the list restarts", async () => {
    const clock = new FakeClock();
    const { transport } = scriptedTransport(
      { body: page("7", "x", "1", "2") },
      failure(410, "Expired"),
      { body: page("9", undefined, "2", "3") },
    );
    const client = new KubeClient({ transport, clock });
    const uids: string[] = [];
    for await (const { metadata } of client.list(builtIn<ConfigMapObject>("v1", "ConfigMap")))
      uids.push(metadata.uid);
    expect(uids).toEqual(["1", "2", "3"]);
  });

  it("yields each object once when the list restarts in pages", async () => {
    const clock = new FakeClock();
    const huge = { chunks: zeros(65) };
    const { transport, requests } = scriptedTransport(
      { body: page("7", "x", "1", "2") },
      failure(410, "Expired"),
      huge,
      { body: page("9", "y", "0", "1") },
      { body: page("9", undefined, "2", "3") },
    );
    const client = new KubeClient({ transport, clock });
    const uids: string[] = [];
    for await (const { metadata } of client.list(builtIn<ConfigMapObject>("v1", "ConfigMap")))
      uids.push(metadata.uid);
    expect(uids).toEqual(["1", "2", "0", "3"]);
    expect(requests.map(({ path }) => path.split("?")[1])).toEqual(
      ["limit=500", "limit=500&continue=x", "", "limit=500", "limit=500&continue=y"].map(
        (query) => query || undefined,
      ),
    );
  });
});

/** A body of some mebibytes. */
async function* zeros(mebibytes: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(1024 * 1024);
  for (let count = 0; count < mebibytes; count += 1) yield await Promise.resolve(chunk);
}
