import { describe, expect, test } from "vitest";
import {
  runScript,
  type ScriptRequest,
  type ScriptResponse,
  type Send,
} from "../../conformance/run-script.ts";
import type { Script, Step } from "../../conformance/script.ts";
import { apply, get, mergePatch, post, remove, watch } from "../../conformance/steps.ts";

function json(body: unknown, status = 200, headers: ScriptResponse["headers"] = {}) {
  return chunks([JSON.stringify(body)], status, {
    "content-type": "application/json; charset=utf-8",
    ...headers,
  });
}

function chunks(
  texts: string[],
  status = 200,
  headers: ScriptResponse["headers"] = {},
): ScriptResponse {
  async function* body() {
    for (const text of texts) yield Buffer.from(text);
  }
  return { status, headers, body: body() };
}

/** A server that answers with these, one after another, and keeps the requests. */
function serverOf(...answers: ScriptResponse[]) {
  const requests: ScriptRequest[] = [];
  const signals: AbortSignal[] = [];
  const send: Send = async (request, signal) => {
    requests.push(request);
    signals.push(signal);
    const answer = answers.shift();
    if (answer === undefined) throw new Error("one request too many");
    return answer;
  };
  return { requests, signals, send };
}

function scriptOf(...steps: Step[]): Script {
  return { name: "a script", steps };
}

describe("runScript", () => {
  test("sends method, path, query, types and body", async () => {
    const { requests, send } = serverOf(json({}), json({}), json({}), json({}));
    await runScript(
      send,
      scriptOf(
        get("/a", { query: { labelSelector: "app in (x,y)" }, accept: "text/plain" }),
        mergePatch("/b", { spec: null }),
        apply("/c", { x: 1 }, { manager: "me", force: true }),
        remove("/d", { propagationPolicy: "Orphan" }),
      ),
    );
    const agent = { "user-agent": "script", accept: "application/json" };
    expect(requests).toEqual([
      {
        method: "GET",
        path: "/a?labelSelector=app+in+%28x%2Cy%29",
        headers: { ...agent, accept: "text/plain" },
      },
      {
        method: "PATCH",
        path: "/b",
        headers: { ...agent, "content-type": "application/merge-patch+json" },
        body: '{"spec":null}',
      },
      {
        method: "PATCH",
        path: "/c?fieldManager=me&force=true",
        headers: { ...agent, "content-type": "application/apply-patch+yaml" },
        body: '{"x":1}',
      },
      {
        method: "DELETE",
        path: "/d",
        headers: { ...agent, "content-type": "application/json" },
        body: '{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"}',
      },
    ]);
  });

  test("fills in the namespace and fields of earlier answers", async () => {
    const { requests, send } = serverOf(
      json({ metadata: { uid: "u-1", generation: 3 } }),
      json({}),
    );
    await runScript(
      send,
      scriptOf(
        post("/$(namespace)/a", {}, { id: "first" }),
        post("/b/$(first.metadata.uid)", { list: [{ of: "$(first.metadata.generation) times" }] }),
      ),
    );
    expect(requests.map(({ path }) => path)).toEqual(["/s-a-script/a", "/b/u-1"]);
    expect(requests[1]?.body).toBe('{"list":[{"of":"3 times"}]}');
  });

  test.each([
    [
      "a step",
      "$(nothing.metadata.uid)",
      "$(nothing.metadata.uid): no earlier step has the id nothing",
    ],
    [
      "a field",
      "$(first.metadata.uid)",
      "$(first.metadata.uid): expected a string or a number, got undefined",
    ],
    ["an object", "$(first.spec)", '$(first.spec): expected a string or a number, got {"x":1}'],
  ])("refuses a reference to %s that it does not know", async (_, path, message) => {
    const { send } = serverOf(json({ spec: { x: 1 } }));
    const script = scriptOf(get("/a", { id: "first" }), get(path));
    await expect(runScript(send, script)).rejects.toThrow(new Error(message));
  });

  test("fills in fields of earlier events", async () => {
    const { requests, send } = serverOf(chunks(['{"object":{"uid":"u-1"}}\n']), json({}));
    await runScript(
      send,
      scriptOf(watch("/a", { take: 1 }, {}, { id: "seen" }), get("/b/$(seen.events.0.object.uid)")),
    );
    expect(requests[1]?.path).toBe("/b/u-1");
  });

  test("sends a string as it is", async () => {
    const { requests, send } = serverOf(json({}));
    await runScript(send, scriptOf(post("/a", '{"')));
    expect(requests[0]?.body).toBe('{"');
  });

  test("returns status, media type, warnings and body", async () => {
    const warning = '299 - "unknown field \\"a\\"", 299 - "old, \\"very\\" old"';
    const { send } = serverOf(
      json({ a: 1 }, 201, { warning }),
      chunks(["404 page ", "not found\n"], 404, { "content-type": "text/plain; charset=utf-8" }),
      chunks([], 200, { "content-type": "application/json" }),
    );
    expect(await runScript(send, scriptOf(get("/a"), get("/b"), get("/c")))).toEqual([
      {
        status: 201,
        type: "application/json",
        warnings: ['unknown field "a"', 'old, "very" old'],
        body: { a: 1 },
      },
      { status: 404, type: "text/plain", body: "404 page not found" },
      { status: 200, type: "application/json" },
    ]);
  });

  test("reads the requested number of events, across chunks, without bookmarks", async () => {
    const lines = [
      '{"type":"ADDED"}\n{"ty',
      'pe":"BOOKMARK"}\n',
      '{"type":"DELETED"}\n{"type":"LATE"}\n',
    ];
    const { requests, send } = serverOf(chunks(lines), chunks(lines), chunks(lines));
    const answers = await runScript(
      send,
      scriptOf(
        watch("/a", { take: 2 }, { resourceVersion: "1" }),
        watch("/a", { take: 2, bookmarks: true }, {}),
        watch("/a", { take: 4 }, {}),
      ),
    );
    expect(requests[0]?.path).toBe("/a?resourceVersion=1&watch=true");
    expect(answers.map(({ events, ended }) => ({ events, ended }))).toEqual([
      { events: [{ type: "ADDED" }, { type: "DELETED" }] },
      { events: [{ type: "ADDED" }, { type: "BOOKMARK" }] },
      { events: [{ type: "ADDED" }, { type: "DELETED" }, { type: "LATE" }], ended: true },
    ]);
  });

  test("keeps a watch open for later steps and ends it with the script", async () => {
    const { signals, send } = serverOf(chunks(['{"type":"ONE"}\n{"type":"TWO"}\n']), json({}));
    const answers = await runScript(
      send,
      scriptOf(watch("/a", { take: 1, hold: true }, {}, { id: "open" }), get("/b"), {
        read: "open",
        take: "end",
      }),
    );
    expect(answers[0]?.events).toEqual([{ type: "ONE" }]);
    expect(answers[2]).toEqual({ events: [{ type: "TWO" }] });
    expect(signals[0]?.aborted).toBe(true);
  });

  test("reads a refused watch like any response", async () => {
    const { send } = serverOf(json({ kind: "Status" }, 410));
    expect(await runScript(send, scriptOf(watch("/a", { take: 1 }, {})))).toEqual([
      { status: 410, type: "application/json", body: { kind: "Status" } },
    ]);
  });

  test("sends as another caller and makes the server forget", async () => {
    const viewer = serverOf(json({}, 403));
    const done: string[] = [];
    await runScript(serverOf().send, scriptOf(get("/a", { as: "viewer" }), { server: "forget" }), {
      callers: { viewer: viewer.send },
      forget: async () => done.push("forgotten"),
    });
    expect(viewer.requests).toHaveLength(1);
    expect(done).toEqual(["forgotten"]);
  });

  test.each([
    [get("/a", { as: "viewer" }), "the script needs a transport of the viewer"],
    [{ server: "forget" } as const, "the script needs a server that can forget"],
    [{ read: "open", take: 1 } as const, "the step open has left no watch open"],
  ])("refuses an unknown step: %j", async (step, message) => {
    await expect(runScript(serverOf().send, scriptOf(step))).rejects.toThrow(message);
  });

  test("passes the abort of the caller to each request", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");
    const seen: unknown[] = [];
    const send: Send = async (_, signal) => {
      stop.abort(reason);
      seen.push(signal.reason);
      return json({});
    };
    await runScript(send, scriptOf(get("/a")), { signal: stop.signal });
    expect(seen).toEqual([reason]);
  });
});
