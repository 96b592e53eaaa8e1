import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type HookFault } from "@holdfast/fake-apiserver";
import {
  builtIn,
  isApiError,
  type KubeObject,
  type Webhook,
  type WebhookConfiguration,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { asWebhook } from "../as-webhook.ts";

interface Map extends KubeObject {
  data?: { [key: string]: string };
}
const ConfigMap = builtIn<Map>("v1", "ConfigMap");
type Request = Parameters<Parameters<typeof hookOf>[1]>[0];

const START = new FakeClock().now();

/** A webhook about ConfigMaps. */
function hookOf(
  more: Partial<Record<keyof WebhookConfiguration, unknown>>,
  answer: (
    request: { operation: string; object: Map; oldObject: Map },
    caller: Parameters<Webhook["review"]>[1],
  ) => object | Promise<object>,
): Webhook {
  const rule = {
    apiGroups: ["*"],
    apiVersions: ["*"],
    operations: ["*"],
    resources: ["configmaps"],
  };
  const configuration = { type: "mutating", name: "a.example.org", rules: [rule], ...more };
  return asWebhook({
    configuration,
    review: async (request: never, caller) => ({
      uid: (request as { uid: string }).uid,
      ...(await answer(request, caller)),
    }),
  });
}

const patchOf = (value: object) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify([{ op: "add", path: "/data", value }])).toString("base64"),
});

const map = (name: string, data: Map["data"] = {}) => ({
  metadata: { namespace: "default", name },
  data,
});

function world(...webhooks: readonly Webhook[]) {
  const clock = new FakeClock();
  return { clock, api: new FakeApi({ clock, resources: [ConfigMap], webhooks }) };
}

/** The outcome of a create, with the milliseconds that it took. */
async function created({ clock, api }: ReturnType<typeof world>, name = "a") {
  const outcome = await clock.run(() =>
    api.client.create(ConfigMap, map(name), { retries: 0 }).then(
      () => "201",
      ({ message }: Error) => message,
    ),
  );
  const took = clock.now() - START;
  expect(clock.waiters()).toBe(0);
  return [took, outcome] as const;
}

const POST = 'failed calling webhook "a.example.org": failed to call webhook: ';

describe("a webhook of a FakeApi", () => {
  const allow = () => ({ allowed: true });
  const rows: readonly (readonly [
    HookFault,
    Partial<WebhookConfiguration>,
    number,
    string | RegExp,
  ])[] = [
    [{ type: "down" }, {}, 0, /500 .*connect: connection refused/],
    [{ type: "down" }, { failurePolicy: "Ignore" }, 0, "201"],
    [{ type: "slow" }, { timeoutSeconds: 5 }, 5_000, /500 .*context deadline exceeded/],
    [{ type: "slow" }, { timeoutSeconds: 5, failurePolicy: "Ignore" }, 5_000, "201"],
    [{ type: "slow" }, {}, 10_000, /500 .*context deadline exceeded/],
    [{ type: "slow", delay: 4_999 }, { timeoutSeconds: 5 }, 4_999, "201"],
    [{ type: "refuses" }, {}, 0, /400: .*denied the request without explanation/],
    [{ type: "refuses", message: "no", code: 409, reason: "Conflict" }, {}, 0, /409 .*request: no/],
    [{ type: "refuses" }, { failurePolicy: "Ignore" }, 0, /400: .*denied/],
    [{ type: "status", status: 404 }, {}, 0, /500 .*could not find/],
    [
      { type: "status", status: 503, retryAfter: 2 },
      { timeoutSeconds: 5 },
      5_000,
      /500 .*deadline/,
    ],
  ];
  it.each(rows)("with the fault %j and %j takes %i ms", async (fault, more, took, outcome) => {
    const hook = hookOf(more, allow);
    const given = world(hook);
    given.api.intercept({ hook, fault });
    const [ms, seen] = await created(given);
    expect(ms).toBe(took);
    if (typeof outcome === "string") expect(seen).toBe(outcome);
    else expect(seen).toMatch(outcome);
  });

  it("is asked again each time that Retry-After is over, and then no more", async () => {
    const asked: number[] = [];
    const hook = hookOf({}, () => {
      asked.push(given.clock.now() - START);
      return { allowed: true };
    });
    const given = world(hook);
    given.api.intercept({ hook, fault: { type: "status", status: 429, retryAfter: 1 }, times: 3 });
    expect(await created(given)).toEqual([3_000, "201"]);
    expect(asked).toEqual([3_000]);
  });

  it("lets other writes come between, and sees the object anew then", async () => {
    const seen: unknown[] = [];
    const hook = hookOf({}, async ({ operation, object, oldObject }) => {
      seen.push([operation, oldObject?.data, object.data]);
      if (object.data?.["slow"] !== undefined) await given.clock.sleep(1_000);
      return { allowed: true };
    });
    const given = world(hook);
    const { api, clock } = given;
    await clock.run(async () => {
      await api.client.create(ConfigMap, map("a"));
      const slow = api.client.patch(ConfigMap, "default/a", { data: { slow: "1" } });
      await clock.sleep(500);
      await api.client.patch(ConfigMap, "default/a", { data: { fast: "1" } });
      expect((await slow).data).toEqual({ slow: "1", fast: "1" });
    });
    expect(seen).toEqual([
      ["CREATE", undefined, undefined],
      ["UPDATE", undefined, { slow: "1" }],
      ["UPDATE", undefined, { fast: "1" }],
      ["UPDATE", { fast: "1" }, { slow: "1", fast: "1" }],
    ]);
    expect(clock.now() - START).toBe(2_000);
  });

  it("lets one of two creates of a name win", async () => {
    const hook = hookOf({}, async () => {
      await given.clock.sleep(1_000);
      return { allowed: true };
    });
    const given = world(hook);
    const { api, clock } = given;
    const both = await clock.run(() =>
      Promise.allSettled([1, 2].map(() => api.client.create(ConfigMap, map("a")))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = both.find((one) => one.status === "rejected") as PromiseRejectedResult;
    expect(isApiError(lost.reason, "AlreadyExists")).toBe(true);
  });

  it("hears of an abort at once, and its write is not made", async () => {
    const stop = new AbortController();
    let heard: unknown;
    const hook = hookOf({}, async (_, { signal }) => {
      signal.addEventListener("abort", () => {
        heard = [given.clock.now() - START, signal.reason];
      });
      return await new Promise<never>(() => {});
    });
    const given = world(hook);
    const { api, clock } = given;
    const reason = new Error("stop");
    await clock.run(async () => {
      const made = api.client.create(ConfigMap, map("a"), { signal: stop.signal });
      const refused = expect(made).rejects.toBe(reason);
      await clock.sleep(700);
      stop.abort(reason);
      await refused;
    });
    expect(heard).toEqual([700, reason]);
    expect(clock.waiters()).toBe(0);
    expect(await api.client.find(ConfigMap, "default/a")).toBeUndefined();
  });

  it("may read from the server, with the rights of the operator", async () => {
    const hook = hookOf({ type: "validating" }, async ({ object }, { context }) => {
      const other = await context?.client?.find(ConfigMap, "default/limits");
      return { allowed: object.metadata?.name === "limits" || other !== undefined };
    });
    const given = world(hook);
    expect((await created(given))[1]).toMatch(/400/);
    expect((await created(given, "limits"))[1]).toBe("201");
    expect((await created(given))[1]).toBe("201");
    expect(given.api.rulesUsed()).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
    ]);
  });

  it("is asked in its order, each about what the one before has left", async () => {
    const seen: Request["object"]["data"][] = [];
    const hooks = ["a", "b"].map((name) =>
      hookOf({ name: `${name}.example.org` }, ({ object }) => {
        seen.push(object.data);
        return patchOf({ ...object.data, [name]: "1" });
      }),
    );
    const given = world(...hooks);
    await created(given);
    expect(seen).toEqual([undefined, { a: "1" }]);
    expect((await given.api.client.get(ConfigMap, "default/a")).data).toEqual({ a: "1", b: "1" });
  });

  it("fails with the words of a server for an answer that is none", async () => {
    const given = world(hookOf({}, () => ({ uid: "other", allowed: true })));
    const [, outcome] = await created(given);
    expect(outcome).toContain(
      'failed calling webhook "a.example.org": received invalid webhook response',
    );
    const throwing = world(
      hookOf({}, () => {
        throw new Error("broken");
      }),
    );
    expect((await created(throwing))[1]).toContain(`${POST}Post `);
  });

  it("is no more broken once a fault is taken back", async () => {
    const hook = hookOf({}, allow);
    const given = world(hook);
    {
      using _down = given.api.intercept({ hook, fault: { type: "down" } });
      expect((await created(given))[1]).toMatch(/500/);
    }
    expect((await created(given))[1]).toBe("201");
  });
});
