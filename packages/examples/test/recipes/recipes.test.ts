import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemoryLock } from "@holdfast/controller";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { crawl } from "../../src/recipes/crawl.ts";
import { fetchWithRetryAfter } from "../../src/recipes/fetch-with-retry-after.ts";
import { followLines } from "../../src/recipes/follow-lines.ts";
import { leaderCron } from "../../src/recipes/leader-cron.ts";
import { listenToDatabase } from "../../src/recipes/listen-to-database.ts";
import { mirrorDirectory } from "../../src/recipes/mirror-directory.ts";
import { waitUntilReady } from "../../src/recipes/wait-until-ready.ts";
import { answering, FakeClient, FakeFs, recipeWorld } from "./recipe-world.ts";

const URL_OF = "https://example.com/";
const refused = new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") });
const busy = (seconds: number): Response =>
  new Response("busy", { status: 503, headers: { "retry-after": `${seconds}` } });

describe("fetchWithRetryAfter", () => {
  it("waits for Retry-After, else for the backoff", async () => {
    const { clock, options, events, note } = recipeWorld();
    const fetch = answering(busy(7), refused, "hang", new Response("hello"));
    note(await clock.run(() => fetchWithRetryAfter(URL_OF, { ...options, fetch })));
    expect(events).toEqual([
      [0, "RetryAfterError: HTTP 503; next attempt in 7000 ms"],
      [7_000, "Error: fetch failed: connect ECONNREFUSED; next attempt in 500 ms"],
      [17_500, expect.stringMatching(/^TimeoutError: .*; next attempt in 1000 ms$/)],
      [18_500, "hello"],
    ]);
  });

  it("rejects at once for 404, and with signal.reason when aborted during a delay", async () => {
    const { clock, stop, options, events, noteEnd } = recipeWorld();
    const missing = answering(new Response("", { status: 404 }));
    const rejected = fetchWithRetryAfter(URL_OF, { ...options, fetch: missing });
    await expect(rejected).rejects.toThrow("HTTP 404");
    const fetched = noteEnd(fetchWithRetryAfter(URL_OF, { ...options, fetch: answering(busy(7)) }));
    await clock.step(3_000);
    stop.abort("SIGTERM");
    await fetched;
    expect(events.at(-1)).toEqual([3_000, ["rejected", "SIGTERM"]]);
  });
});

describe("listenToDatabase", () => {
  it("reconnects until it is aborted", async () => {
    const { clock, stop, options, events, note, noteEnd } = recipeWorld();
    const [first, second] = [new FakeClient(), new FakeClient()];
    const outcomes = [refused, refused, first.client, second.client];
    const connect = async () => {
      note("connect");
      const outcome = outcomes.shift();
      if (outcome === undefined || outcome instanceof Error) throw outcome;
      return outcome;
    };
    const ended = noteEnd(listenToDatabase(URL_OF, "jobs", { ...options, connect }));
    await clock.step(60_000);
    first.emit("notification", { payload: "job 1" });
    first.emit("end");
    await clock.step(10_000);
    stop.abort();
    await ended;
    expect([first.queries, second.queries]).toEqual([['LISTEN "jobs"'], ['LISTEN "jobs"']]);
    expect(events).toEqual([
      [0, "connect"],
      [0, "Error: fetch failed; next attempt in 1000 ms"],
      [1_000, "connect"],
      [1_000, "Error: fetch failed; next attempt in 1280 ms"],
      [2_280, "connect"],
      [2_280, "listening on jobs"],
      [60_000, "job 1"],
      [60_000, "connection lost"],
      [60_000, "connect"],
      [60_000, "listening on jobs"],
      [70_000, "resolved"],
    ]);
  });

  it("rejects with advice when the login is refused", async () => {
    const { options } = recipeWorld();
    const connect = () =>
      Promise.reject(Object.assign(new Error("no such role"), { code: "28000" }));
    await expect(listenToDatabase(URL_OF, "jobs", { ...options, connect })).rejects.toThrow(
      "Error: no such role: correct the URL",
    );
  });
});

describe("mirrorDirectory", () => {
  it("copies and removes at an event, and repairs the rest once a minute", async () => {
    const { clock, stop, options, events, noteEnd } = recipeWorld();
    const root = tempFolder(onTestFinished);
    const [source, target] = [join(root, "source"), join(root, "target")];
    mkdirSync(join(source, "sub"), { recursive: true });
    writeFileSync(join(source, "a"), "1");
    writeFileSync(join(source, "sub", "b"), "2");
    const files = new FakeFs(clock);

    const ended = noteEnd(mirrorDirectory(source, target, { ...options, fs: files.fs }));
    await clock.step(10_000);
    writeFileSync(join(source, "a"), "3");
    files.watcher.emit("change", "change", "a");
    await clock.step(10_000);
    expect(readFileSync(join(target, "a"), "utf8")).toBe("3");
    expect(readFileSync(join(target, "sub", "b"), "utf8")).toBe("2");
    rmSync(join(source, "sub"), { recursive: true });
    files.watcher.emit("error", new Error("too many watches"));
    await clock.step(60_000);
    expect(clock.waiters(), "the resync alone: no key is retried").toBe(1);
    stop.abort();
    await ended;
    expect(files.isClosed).toBe(true);
    expect(events).toEqual([
      [0, "copied a"],
      [0, `copied ${join("sub", "b")}`],
      [10_000, "copied a"],
      [20_000, "Error: too many watches; changes now take up to a minute"],
      [60_000, `removed ${join("sub", "b")}`],
      [80_000, "resolved"],
    ]);
  });
});

describe("leaderCron", () => {
  it("runs the job in one process, and in the other after the first stops", async () => {
    const { clock, stop, options, events, note, noteEnd } = recipeWorld();
    const lock = new MemoryLock();
    const cron = (identity: string, signal: AbortSignal) => {
      const own = { ...options, lock, identity, signal, interval: 60_000, log: () => {} };
      return noteEnd(leaderCron((_, token) => note(`${identity} ${token}`), own));
    };
    const stopFirst = new AbortController();
    const first = cron("a", stopFirst.signal);
    await clock.step(1);
    const second = cron("b", stop.signal);
    await clock.step(149_999);
    stopFirst.abort();
    await clock.step(90_000);
    stop.abort();
    await Promise.all([first, second]);
    expect(events).toEqual([
      [0, "a 0"],
      [60_000, "a 0"],
      [120_000, "a 0"],
      [150_000, "resolved"],
      [150_001, "b 1"],
      [210_001, "b 1"],
      [240_000, "resolved"],
    ]);
  });
});

describe("crawl", () => {
  const pages: Readonly<Record<string, string>> = {
    "/": '<a href="/a#top">a</a> <a href="/b">b</a> <a href="//elsewhere/">no</a> <a href="http://[">no</a>',
    "/a": '<a href="/">home</a> <a href="/missing">gone</a>',
    "/b": '<a href="/a">a</a>',
  };

  it("sends two requests per second and retries busy pages", async () => {
    const { clock, options, events, note } = recipeWorld();
    const busyPages = ["/", "/b"];
    const fetch = async (url: unknown) => {
      const { pathname } = new URL(String(url));
      note(`GET ${pathname}`);
      if (pathname === busyPages[0]) return new Response(busyPages.shift(), { status: 503 });
      const page = pages[pathname];
      return new Response(page ?? "", { status: page === undefined ? 404 : 200 });
    };
    const log = () => {};
    const found = await clock.run(() => crawl(URL_OF, { ...options, log, fetch }));
    expect(events).toEqual([
      [0, "GET /"],
      [500, "GET /"],
      [1_000, "GET /a"],
      [1_500, "GET /b"],
      [2_000, "GET /missing"],
      [2_500, "GET /b"],
    ]);
    expect([...found].map((url) => new URL(url).pathname)).toEqual(["/", "/a", "/b", "/missing"]);
  });

  it("rejects with signal.reason when aborted", async () => {
    const { clock, stop, options, events, noteEnd } = recipeWorld();
    const fetch = answering(new Response(pages["/"]), "hang", "hang");
    const crawled = noteEnd(crawl(URL_OF, { ...options, fetch }));
    await clock.step(700);
    stop.abort("SIGTERM");
    await crawled;
    expect(events).toEqual([
      [0, `visited ${URL_OF}`],
      [700, ["rejected", "SIGTERM"]],
    ]);
  });
});

describe("followLines", () => {
  it("sends the request again when the response ends or breaks", async () => {
    const { clock, stop, options, events, note, noteEnd } = recipeWorld();
    const answer = answering(
      refused,
      new Response("1\n2\nhal"),
      refused,
      new Response("3\n"),
      "hang",
    );
    const signals: (AbortSignal | null | undefined)[] = [];
    const fetch: typeof answer = (url, init) => {
      signals.push(init?.signal);
      return answer(url, init);
    };
    const ended = noteEnd(followLines(URL_OF, { ...options, fetch }).forEach(note));
    await clock.step(10_000);
    stop.abort();
    await ended;
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true, true, true]);
    expect(events).toEqual([
      [0, "Error: fetch failed: connect ECONNREFUSED; next request in 500 ms"],
      [500, "1"],
      [500, "2"],
      [500, "Error: the response ended; next request in 500 ms"],
      [1_000, "Error: fetch failed: connect ECONNREFUSED; next request in 1000 ms"],
      [2_000, "3"],
      [2_000, "Error: the response ended; next request in 500 ms"],
      [10_000, "resolved"],
    ]);
  });

  it("rejects at once for 404", async () => {
    const { options, events } = recipeWorld();
    const fetch = answering(new Response("", { status: 404 }));
    const rejected = followLines(URL_OF, { ...options, fetch }).forEach(() => {});
    await expect(rejected).rejects.toThrow("HTTP 404");
    expect(events).toEqual([]);
  });
});

describe("waitUntilReady", () => {
  it("asks until the server is ready", async () => {
    const { clock, options, events, noteEnd } = recipeWorld();
    const fetch = answering(refused, "hang", new Response("", { status: 503 }), new Response());
    await clock.run(() => noteEnd(waitUntilReady(URL_OF, { ...options, fetch })));
    expect(events).toEqual([
      [0, "not ready: Error: fetch failed: connect ECONNREFUSED"],
      [2_500, expect.stringMatching(/^not ready: TimeoutError: /)],
      [3_000, "not ready: HTTP 503"],
      [3_500, "resolved"],
    ]);
  });

  it("gives up after its timeout with advice, and at once when aborted", async () => {
    const { clock, stop, options, events, noteEnd } = recipeWorld();
    const fetch = async () => Promise.reject(refused);
    const own = { ...options, fetch, log: () => {} };
    await clock.run(() => noteEnd(waitUntilReady(URL_OF, { ...own, timeout: 5_100 })));
    const aborted = noteEnd(waitUntilReady(URL_OF, own));
    await clock.step(100);
    stop.abort("SIGTERM");
    await aborted;
    expect(events).toEqual([
      [5_100, ["rejected", new Error(`${URL_OF} is not ready after 5100 ms: look into its log`)]],
      [5_200, ["rejected", "SIGTERM"]],
    ]);
  });
});
