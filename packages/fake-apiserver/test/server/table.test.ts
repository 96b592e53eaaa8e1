import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { widgetCrd } from "../../conformance/resources.ts";
import { humanDuration } from "../../src/server/resource/human-duration.ts";
import { jsonPath } from "../../src/server/resource/json-path.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

it.each([
  [-2 * SECOND, "<invalid>"],
  [-2 * SECOND + 1, "0s"],
  [0, "0s"],
  [999, "0s"],
  [119_999, "119s"],
  [2 * MINUTE, "2m"],
  [2 * MINUTE + SECOND, "2m1s"],
  [10 * MINUTE - 1, "9m59s"],
  [10 * MINUTE, "10m"],
  [3 * HOUR - 1, "179m"],
  [3 * HOUR, "3h"],
  [3 * HOUR + MINUTE, "3h1m"],
  [8 * HOUR, "8h"],
  [2 * DAY - 1, "47h"],
  [2 * DAY, "2d"],
  [2 * DAY + HOUR, "2d1h"],
  [8 * DAY, "8d"],
  [2 * YEAR - 1, "729d"],
  [2 * YEAR, "2y"],
  [2 * YEAR + DAY, "2y1d"],
  [8 * YEAR, "8y"],
  [80 * YEAR, "80y"],
])("an age of %i ms is shown as %s", (age, text) => expect(humanDuration(age)).toBe(text));

const object = {
  a: { "b.c": 1, "d/e": 2 },
  list: [
    { type: "A", n: 1, on: true },
    { type: "B", n: 2, on: false },
    { type: "B", n: 3 },
  ],
};

it.each<[string, unknown[] | undefined]>([
  [".a.b\\.c", [1]],
  [".a['d/e']", [2]],
  ['.a["d/e"]', undefined],
  [".a['b.c']", []],
  [".a['b\\.c']", [1]],
  [".a.none.deeper", []],
  [".a.constructor", []],
  [".list[0].n", [1]],
  [".list[-1].n", [3]],
  [".list[7].n", []],
  [".list[*].n", [1, 2, 3]],
  [".a.*", [1, 2]],
  ['.list[?(@.type=="B")].n', [2, 3]],
  [".list[?(@.type == 'A')].n", [1]],
  ['.list[?(@.type!="B")].n', [1]],
  [".list[?(@.n>1)].n", [2, 3]],
  [".list[?(@.n>=2)].type", ["B", "B"]],
  [".list[?(@.n<2)].n", [1]],
  [".list[?(@.n<=2)].n", [1, 2]],
  [".list[?(@.type>1)].n", []],
  [".list[?(@.on==true)].n", [1]],
  [".list[?(@.on)].n", [1, 2]],
  [".list[?(@.none==1)].n", []],
  [".list[?(@.none!=1)].n", []],
  ["..n", undefined],
  [".list[0:2].n", undefined],
  [".list[?(@..n==1)]", undefined],
])("the path %s", (path, values) => expect(jsonPath(path)?.(object)).toEqual(values));

it("tables show columns with filters, and dates as the age on the server's clock", async () => {
  const clock = new FakeClock();
  const Widget = fromCrd(widgetCrd);
  const ConfigMap = builtIn("v1", "ConfigMap");
  const api = new FakeApi({ clock, resources: [Widget, ConfigMap] });
  const metadata = { namespace: "default", name: "a" };
  await api.client.create(Widget, { metadata, spec: { color: "red", tags: ["x"] } } as object);
  await api.client.create(ConfigMap, { metadata });
  const lastTransitionTime = "1999-12-31T23:00:00Z";
  const status = { conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
  await api.client.patch(Widget, "default/a", { status } as object, { subresource: "status" });
  await clock.step(5 * MINUTE + 30 * SECOND);
  const table = async (path: string): Promise<Record<string, unknown>> => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { signal } = new AbortController();
    const { body } = await api.transport.send({ method: "GET", path, headers }, signal);
    let text = "";
    for await (const chunk of body) text += Buffer.from(chunk).toString("utf8");
    const { columnDefinitions, rows } = JSON.parse(text);
    return Object.fromEntries(
      columnDefinitions.map(({ name }: { name: string }, i: number) => [name, rows[0].cells[i]]),
    );
  };
  for (const path of ["widgets", "widgets/a"])
    expect(
      await table(`/apis/conformance.example.org/v1/namespaces/default/${path}`),
    ).toMatchObject({
      Name: "a",
      Color: "red",
      Tags: '["x"]',
      Ready: "True",
      Since: "65m",
      Age: "5m30s",
      Number: null,
    });
  expect(await table("/api/v1/namespaces/default/configmaps")).toEqual({ Name: "a", Age: "5m30s" });
});
