import { explorePaths } from "@holdfast/fake-apiserver/fast-check";
import { type KubeObject, type OperatorSetup, ownerReference } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { resourceWith } from "../fast-check/schemas.ts";
import { ConfigMap } from "./kit.ts";

interface PageObject extends KubeObject {
  spec: { title: string; note?: string };
}
const text = { type: "string", maxLength: 10 };
const Page = resourceWith<PageObject>({
  type: "object",
  required: ["title"],
  properties: { title: text, note: text },
});

/** Copies the spec of a Page to a ConfigMap: by a merge patch, or by an apply, which removes fields too. */
const copying =
  (applies: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const pages = cluster.watch(Page);
    return () => [
      controller({
        name: "pages",
        sources: [pages.source()],
        async reconcile({ key }) {
          const page = pages.get(key);
          if (page === undefined) return;
          const { name, namespace } = page.metadata;
          const metadata = { name, namespace, ownerReferences: [ownerReference(Page, page)] };
          const data = { ...page.spec };
          if (applies) await client.apply(ConfigMap, { metadata, data });
          else if ((await client.find(ConfigMap, key)) === undefined)
            await client.create(ConfigMap, { metadata, data });
          else await client.patch(ConfigMap, key, { data });
        },
      }),
    ];
  };

test("finds a field that is removed from the spec and stays in the child", async () => {
  const options = { setup: copying(false), resource: Page, resources: [ConfigMap] };
  const problem = await explorePaths(options).catch((error: Error) => error.message);
  expect(problem).toMatch(/^going back to the first spec leads elsewhere;/);
  expect(problem).toMatch(
    /\n {2}1\. create with \{"title":""\}\n {2}2\. replace with \{"title":"","note":""\}\n\nconfigmaps default\/a\n {2}data\.note: "" after going back, absent at first\n/,
  );
});

test("passes with an apply", async () => {
  const options = { setup: copying(true), resource: Page, resources: [ConfigMap], runs: 30 };
  expect(await explorePaths(options)).toMatchObject({ paths: 30 });
});
