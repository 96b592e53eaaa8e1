import { expect, test } from "vitest";
import { UPGRADED, upgradeScript } from "../client/upgrade-script.ts";
import { NamedCluster } from "./named-cluster.ts";

test("the updates of a manager become its applies, which a later apply withdraws", async () => {
  await using named = await NamedCluster.open();
  expect(await upgradeScript(named, named.namespace)).toEqual(UPGRADED);
});
