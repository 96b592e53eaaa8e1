import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  childOf,
  expectNoProblem,
  problemOf,
  reconciling,
  report,
  Thing,
} from "./kit.ts";

/** Ways to write a status to the object itself, where the server drops it. */
const WAYS: Parameters<typeof reconciling>[0][] = [
  (_, { client }) => client.patch(Thing, ann, { status: { isReady: true } }),
  (_, { client }) => {
    const patch = [{ op: "add", path: "/status", value: { isReady: true } }] as const;
    return client.patch(Thing, ann, patch);
  },
  async (thing, context) => {
    await report(context, thing, { size: 1 });
    const patch = [{ op: "add", path: "/status/isReady", value: true }] as const;
    await context.client.patch(Thing, ann, patch);
  },
  (_, { client }) =>
    client.modify(Thing, ann, (found) => {
      found.spec.size = 1;
      found.status = { isReady: true };
    }),
  ({ spec }, { client }) =>
    client.apply(Thing, { metadata: ann, spec, status: { isReady: true } }, { force: true }),
];

test.each(WAYS)("finds a status that the server drops (%#)", async (write) => {
  const setup = reconciling(async (thing, context) => {
    if (thing.status?.isReady === true) return;
    await context.client.apply(ConfigMap, { metadata: childOf(thing) });
    await write(thing, context);
  });
  const problem = await problemOf({ setup });
  expect(problem).toContain("without any fault");
  expect(problem).toMatch(
    /(PATCH|PUT) things default\/ann has a status that the server drops: write it with { subresource: "status" }/,
  );
});

test("passes if the object is written with the status that it has", () =>
  expectNoProblem({
    setup: reconciling(async (thing, context) => {
      if (thing.status?.isReady !== true) await report(context, thing, { isReady: true });
      else if (thing.spec.size !== 1)
        await context.client.modify(Thing, ann, (found) => {
          found.spec.size = 1;
        });
    }),
  }));
