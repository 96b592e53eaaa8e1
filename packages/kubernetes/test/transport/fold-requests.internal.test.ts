import type { Line } from "@holdfast/controller/recording";
import { expect, it } from "vitest";
import { foldRequests } from "../../src/transport/fold-requests.ts";

const MAPS = "/api/v1/configmaps";
const ofMap = (name: string): string => `/api/v1/namespaces/default/configmaps/${name}`;
const object = (name: string, version: number, more: object = {}) => ({
  ...{ kind: "ConfigMap", apiVersion: "v1" },
  metadata: { namespace: "default", name, resourceVersion: `${version}`, ...more },
});

let calls = 0;
/** The lines of a request that is answered. */
const answered = (m: string, u: string, s: number, body: unknown): Line[] => {
  const n = ++calls;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return [
    { k: "q", n, m, u },
    { k: "h", n, s, h: {}, t: n },
    { k: "e", n, body: text, t: n },
  ];
};
const listed = (version: number, items: readonly object[], more: object = {}): object => ({
  ...{ kind: "ConfigMapList", apiVersion: "v1", items },
  metadata: { resourceVersion: `${version}`, ...more },
});
const watching = (url = `${MAPS}?watch=1&resourceVersion=5`): Line[] => {
  const n = ++calls;
  return [
    { k: "q", n, m: "GET", u: url },
    { k: "h", n, s: 200, h: {}, t: n },
  ];
};
const event = (n: number, type: string, one: object): Line => ({
  ...{ k: "c", n, t: n },
  body: `${JSON.stringify({ type, object: one })}\n`,
});

const folded = (lines: readonly Line[]): readonly Line[] => {
  const fold = foldRequests();
  for (const line of lines) fold.take(line);
  return fold.lines();
};

/** What a snapshot has of objects: the answers of its reads, by their paths. */
function readsOf(lines: readonly Line[]): unknown {
  const reads = lines.filter(({ n = 0 }) => n < 0);
  const paths = reads.filter(({ k }) => k === "q").map(({ u }) => u);
  const bodies = reads.filter(({ k }) => k === "e").map(({ body }) => JSON.parse(`${body}`));
  return Object.fromEntries(
    paths.map((path, at) => {
      const { items, metadata } = bodies[at];
      const nameOf = (one: typeof items): string =>
        `${one.metadata.name} ${one.metadata.resourceVersion}`;
      return [`${path}`, items?.map(nameOf).toSorted() ?? nameOf({ metadata })];
    }),
  );
}

/** Two pages, events, writes with and without finalizers, a scale, a list anew: all that shows or hides an object. */
function world(): Line[] {
  const first = answered(
    ...(["GET", `${MAPS}?limit=2`, 200] as const),
    listed(5, [object("ann", 1), object("bob", 2)], { continue: "next" }),
  );
  const second = answered(
    "GET",
    `${MAPS}?limit=2&continue=next`,
    200,
    listed(5, [object("eve", 3)]),
  );
  const watch = watching();
  const n = watch[0]?.n as number;
  return [
    ...[...first, ...second, ...watch],
    event(n, "MODIFIED", object("ann", 6)),
    event(n, "DELETED", object("bob", 7)),
    ...answered("GET", ofMap("ann"), 200, object("ann", 1)), // an old answer that comes late
    ...answered(
      "PATCH",
      ofMap("eve"),
      200,
      object("eve", 8, { finalizers: ["a"], deletionTimestamp: "t" }),
    ),
    ...answered("PATCH", `${ofMap("eve")}/scale`, 200, { ...object("eve", 99), kind: "Scale" }),
    ...answered("PATCH", `${ofMap("ann")}?dryRun=All`, 200, object("ann", 98)),
    ...answered("POST", "/api/v1/namespaces/default/pods", 201, object("pod", 9)),
    ...answered("POST", "/api/v1/namespaces/default/pods", 201, object("gone", 10)),
    ...answered("DELETE", "/api/v1/namespaces/default/pods/gone", 200, { kind: "Status" }),
    ...answered("POST", "/api/v1/namespaces/default/events", 201, object("event", 11)),
    ...answered("GET", `${MAPS}?limit=2`, 410, { kind: "Status" }),
    event(n, "ADDED", object("cid", 12)),
    ...answered("PATCH", ofMap("eve"), 200, object("eve", 13, { deletionTimestamp: "t" })),
    ...answered("GET", `${MAPS}?labelSelector=a%3Db`, 200, listed(13, [object("cid", 12)])),
    ...answered("GET", MAPS, 200, listed(14, [object("ann", 6), object("dan", 14)])),
  ];
}

it("has each object as it was seen last, and none that is gone", () => {
  const lines = world();
  expect(readsOf(folded(lines.slice(0, 6)))).toEqual({ [MAPS]: ["ann 1", "bob 2", "eve 3"] });
  expect(readsOf(folded(lines.slice(0, -6)))).toEqual({
    [MAPS]: ["ann 6", "cid 12"],
    "/api/v1/namespaces/default/pods/pod": "pod 9",
  });
  expect(readsOf(folded(lines))).toEqual({
    [MAPS]: ["ann 6", "dan 14"],
    [`${MAPS}?labelSelector=a%3Db`]: [],
    "/api/v1/namespaces/default/pods/pod": "pod 9",
  });
});

it("tells the same at each line, whether there was a snapshot before, and where", () => {
  const lines = world();
  for (let end = 0; end <= lines.length; end++) {
    const whole = readsOf(folded(lines.slice(0, end)));
    for (let at = 0; at <= end; at++) {
      const before = folded(lines.slice(0, at));
      expect(readsOf(folded([...before, ...lines.slice(at, end)])), `${at} of ${end}`).toEqual(
        whole,
      );
    }
  }
});

it("has lists of many objects in pages", () => {
  const items = Array.from({ length: 1_200 }, (_, at) => object(`map-${at}`, at + 1));
  const first = folded(answered("GET", MAPS, 200, listed(1_200, items)));
  for (const snapshot of [first, folded(first)]) {
    const bodies = snapshot.filter(({ k }) => k === "e").map(({ body }) => JSON.parse(`${body}`));
    expect(bodies.map((list) => list.items.length)).toEqual([500, 500, 200]);
    expect(bodies.flatMap((list) => list.items)).toEqual(items);
  }
});

it("has the latest answers, methods and causes, and the calls that are open", () => {
  const [old, open] = [watching(), watching()];
  const lines: Line[] = [
    { k: "l", n: 1_001, c: "stop" },
    { k: "l", n: 1_002, c: 'dns.put("a")' },
    { k: "L", n: 1_002, v: 1, t: 1, w: 77 },
    { k: "l", n: 1_003, c: 'dns.put("a")' },
    { k: "L", n: 1_003, v: 2, t: 2 },
    { k: "l", n: 1_004, c: 'dns.put("b")' },
    { k: "l", n: 1_005, c: "callback" },
    { k: "F", n: 1_005, v: [], t: 3 },
    { k: "l", n: 1_006, c: "callback" },
    { k: "F", n: 1_006, v: [], t: 4 },
    { k: "F", n: 1_006, v: [], t: 5 },
    { k: "m", c: "dns.zone" },
    { k: "f", c: "an event", s: "at" },
    { k: "R", n: 1_002, t: 6 },
    ...answered("GET", "/version", 200, "v1"),
    ...answered("GET", "/apis/example.org/v1/gones", 404, "404 page not found"),
    ...[...old, ...open],
    { k: "T", d: 9_000, t: 9_000 },
  ];
  const texts = (snapshot: readonly Line[]): string[] =>
    snapshot
      .filter(({ n = 0 }) => n >= 0)
      .map(({ k, n, c, u, v, t, w }) => [k, n, c ?? u ?? v ?? "", t, w].join(" ").trimEnd());
  const first = folded(lines);
  const kept = [
    ...["m  dns.zone", "f  an event"],
    ...['l 1003 dns.put("a") 1', "L 1003 2 2"],
    ...expectedOf("/version", lines),
    ...expectedOf("/apis/example.org/v1/gones", lines),
    "l 1001 stop 0",
  ];
  expect(texts(first).slice(0, kept.length)).toEqual(kept);
  const rest = texts(first).slice(kept.length);
  expect(rest.map((text) => text.split(" ").slice(0, 2).join(" "))).toEqual([
    ...["l 1004", "l 1006", `q ${open[0]?.n}`, `h ${open[0]?.n}`, "o "],
  ]);
  expect(first.at(-1)).toEqual({ k: "o", t: 9_000, w: 77 });
  const second = texts(folded(first)).map((text) => text.split(" ").slice(0, 2).join(" "));
  expect(second).not.toContain("l 1004"); // the program has left it, or would have an answer
  expect(second).toContain("l 1006");
  expect(second).toContain("l 1001");
  expect(second).toContain(`q ${open[0]?.n}`);
});

/** The lines of an answer in a snapshot. */
function expectedOf(path: string, lines: readonly Line[]): string[] {
  const at = lines.findIndex(({ u }) => u === path);
  const n = lines[at]?.n;
  const before = lines.slice(0, at).findLast(({ t }) => t !== undefined)?.t;
  return [`q ${n} ${path} ${before}`, `h ${n}  ${n}`, `e ${n}  ${n}`];
}
