import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi, type FakeApiOptions, type PolicyRule } from "@holdfast/fake-apiserver";
import { KubeClient } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { ConfigMap, Widget } from "./api-kit.ts";

const role = (...rules: PolicyRule[]) => ({
  kind: "Role",
  metadata: { namespace: "default" },
  rules,
});
const configMaps = (...verbs: string[]) => ({ apiGroups: [""], resources: ["configmaps"], verbs });

function world(rules?: FakeApiOptions["rules"]) {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap, Widget], rules });
  const client = new KubeClient({ transport: api.transport, fieldManager: "test", clock });
  return { clock, api, client };
}

async function listed(list: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of list) count++;
  return count;
}

const ann = { namespace: "default", name: "ann" };

describe("FakeApi with rules", () => {
  it("answers 403 in the words of the server to a request that no rule allows", async () => {
    const { api, client } = world([configMaps("get")]);
    await api.client.create(ConfigMap, { metadata: ann });
    expect((await client.get(ConfigMap, ann)).metadata.name).toBe("ann");
    await expect(client.delete(ConfigMap, ann)).rejects.toThrow(
      'configmaps "ann" is forbidden: User "system:serviceaccount:default:operator" cannot delete resource "configmaps" in API group "" in the namespace "default"',
    );
    expect(await api.client.find(ConfigMap, ann)).toBeDefined();
  });

  it("keeps a Role to its namespace, and a ClusterRole to none", async () => {
    const rules = [configMaps("list")];
    const inRole = world([role(...rules)]);
    await listed(inRole.client.list(ConfigMap, { namespace: "default" }));
    await expect(listed(inRole.client.list(ConfigMap))).rejects.toThrow("at the cluster scope");
    const inCluster = world([{ kind: "ClusterRole", rules }]);
    await listed(inCluster.client.list(ConfigMap));
  });

  it("allows discovery and refuses other paths", async () => {
    const { api } = world([{ nonResourceURLs: ["/logs/*"], verbs: ["get"] }]);
    const { signal } = new AbortController();
    const statusOf = async (path: string) =>
      (await api.transport.send({ method: "GET", path, headers: {} }, signal)).status;
    expect(await Promise.all(["/apis", "/api/v1", "/healthz"].map(statusOf))).toEqual([
      200, 200, 200,
    ]);
    expect([await statusOf("/metrics"), await statusOf("/logs/a")]).toEqual([403, 404]);
    expect(api.rulesUsed()).toEqual([{ nonResourceURLs: ["/logs/a", "/metrics"], verbs: ["get"] }]);
  });

  it("asks for no right to create when the object of an applied status is not there", async () => {
    const rules = [{ apiGroups: ["example.org"], resources: ["widgets/status"], verbs: ["patch"] }];
    const { api, client } = world(rules);
    const status = { metadata: ann, status: {} };
    await expect(client.apply(Widget, status, { subresource: "status" })).rejects.toMatchObject({
      reason: "NotFound",
    });
    expect(api.rulesUsed()).toEqual(rules);
  });

  it.each([
    [5, "TypeError: options.rules must be an array, got 5"],
    [[5], "TypeError: options.rules[0] must be an object, got 5"],
    [[{}], "TypeError: options.rules[0].verbs must be an array, got undefined"],
    [
      [{ verbs: [], resources: "pods" }],
      "TypeError: options.rules[0].resources must be an array, got a string",
    ],
    [
      [{ kind: "RoleBinding" }],
      'RangeError: options.rules[0].kind must be "Role" or "ClusterRole", got "RoleBinding"',
    ],
    [
      [{ kind: "Role", rules: [] }],
      "TypeError: options.rules[0].metadata.namespace must be a string, got undefined",
    ],
    [
      [{ kind: "ClusterRole", rules: [{ verbs: 1 }] }],
      "TypeError: options.rules[0].rules[0].verbs must be an array, got 1",
    ],
  ])("rejects the rules %j", (rules, message) => {
    expect(() => world(rules as never)).toThrow(expect.objectContaining(errorOf(message)));
  });
});

function errorOf(text: string) {
  const [name, ...message] = text.split(": ");
  return { name, message: expect.stringContaining(message.join(": ")) };
}

describe("rulesUsed", () => {
  it("is the least list of rules for the requests so far, sorted", async () => {
    const { api, client } = world();
    expect(api.rulesUsed()).toEqual([]);
    await client.create(ConfigMap, { metadata: ann });
    await listed(client.list(Widget));
    await client.apply(Widget, { metadata: ann });
    await client.get(ConfigMap, ann);
    await client.get(ConfigMap, { namespace: "default", name: "ann" });
    await client.patch(Widget, ann, {}, { subresource: "status" });
    await listed(client.list(ConfigMap, { namespace: "default" }));
    expect(api.rulesUsed()).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get", "list"] },
      { apiGroups: ["example.org"], resources: ["widgets"], verbs: ["create", "list", "patch"] },
      { apiGroups: ["example.org"], resources: ["widgets/status"], verbs: ["patch"] },
    ]);
  });

  it("joins resources with the same verbs, and counts refused requests", async () => {
    const { api, client } = world([]);
    await expect(listed(client.list(Widget))).rejects.toThrow("forbidden");
    await expect(listed(client.list(ConfigMap))).rejects.toThrow("forbidden");
    expect(api.rulesUsed()).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] },
      { apiGroups: ["example.org"], resources: ["widgets"], verbs: ["list"] },
    ]);
  });

  it("leaves out what the test itself does, and discovery", async () => {
    const { api } = world();
    await api.client.create(ConfigMap, { metadata: ann });
    const { signal } = new AbortController();
    await api.transport.send({ method: "GET", path: "/apis", headers: {} }, signal);
    expect(api.rulesUsed()).toEqual([]);
  });

  it("suffices: the same requests pass with exactly these rules", async () => {
    const requests = async (client: KubeClient) => {
      await client.create(ConfigMap, { metadata: ann });
      await client.apply(Widget, { metadata: ann });
      await listed(client.list(ConfigMap));
      await client.delete(ConfigMap, ann);
    };
    const first = world();
    await requests(first.client);
    const second = world(first.api.rulesUsed());
    await requests(second.client);
    expect(second.api.rulesUnused()).toEqual([]);
  });
});

describe("rulesMissing", () => {
  it("lists the rules for refused requests, each once", async () => {
    const { api, client } = world([role(configMaps("get"))]);
    await client.find(ConfigMap, ann);
    expect(api.rulesMissing()).toEqual([]);
    for (const name of ["a", "b"])
      await expect(client.delete(ConfigMap, { ...ann, name })).rejects.toThrow("forbidden");
    await expect(client.find(ConfigMap, { ...ann, namespace: "other" })).rejects.toThrow(
      "forbidden",
    );
    expect(api.rulesMissing()).toEqual([configMaps("delete", "get")]);
  });

  it("is empty if everything is allowed", async () => {
    const { api, client } = world();
    await client.find(ConfigMap, ann);
    expect(api.rulesMissing()).toEqual([]);
  });
});

describe("rulesUnused", () => {
  it("names the parts of the rules that no request has needed", async () => {
    const { api, client } = world([
      role(configMaps("get", "list", "delete")),
      { apiGroups: ["example.org"], resources: ["widgets", "widgets/status"], verbs: ["*"] },
    ]);
    await listed(client.list(ConfigMap, { namespace: "default" }));
    await listed(client.list(Widget));
    expect(api.rulesUnused()).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["delete", "get"] },
      { apiGroups: ["example.org"], resources: ["widgets/status"], verbs: ["*"] },
    ]);
  });
});

describe("HOLDFAST_RULES", () => {
  it("names the file to which each rule is appended once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rights-"));
    const file = join(folder, "rules.jsonl");
    process.env["HOLDFAST_RULES"] = file;
    try {
      const { api, client } = world();
      for (const name of ["ann", "bob"])
        await client.find(ConfigMap, { namespace: "default", name });
      await api.client.create(ConfigMap, { metadata: ann });
      expect(readFileSync(file, "utf8")).toBe(
        '{"namespace":"default","rule":{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}}\n',
      );
    } finally {
      delete process.env["HOLDFAST_RULES"];
      rmSync(folder, { recursive: true });
    }
  });
});
