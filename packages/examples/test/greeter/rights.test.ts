import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi, type RoleManifest } from "@holdfast/fake-apiserver";
import { builtIn, runOperator } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { drawn } from "../../../../test/drawn.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { rightsOf, rolesIn, withoutEach } from "../rights.ts";

const roles = rolesIn(new URL("../../src/greeter/deploy/greeter.yaml", import.meta.url));
const Lease = builtIn("coordination.k8s.io/v1", "Lease");

/** Runs the greeter with the rights of roles, until it has greeted and led for a while. */
async function greet(rules: readonly RoleManifest[]): Promise<FakeApi> {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap, Lease], rules });
  const stop = new AbortController();
  await clock.run(async () => {
    await api.client.create(Greeting, {
      metadata: { namespace: "default", name: "ann" },
      spec: { name: "Ann" },
    });
    const running = runOperator(
      {
        name: "greeter",
        transport: api.transport,
        setup: greeter,
        clock,
        logger: silentLogger,
        leaderElection: { namespace: "greeter" },
        health: false,
      },
      stop.signal,
    );
    await clock.sleep(60_000);
    stop.abort();
    await running.catch(() => undefined); // without a right it may fail
  });
  return api;
}

describe("the roles of the greeter", () => {
  it("suffice", async () => {
    const api = await greet(roles);
    expect(api.rulesMissing()).toEqual([]);
  });

  it.each(drawn(withoutEach(roles), 5))(
    "are not enough without the right to %s",
    async (right, rules) => {
      const api = await greet(rules);
      expect(rightsOf(api.rulesMissing())).toEqual([right]);
    },
  );
});
