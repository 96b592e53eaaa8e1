import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { ApiServer } from "../../src/server/api-server.ts";
import { servedResource } from "../../src/server/resource/served-resource.ts";
import { Rights } from "../../src/server/rights.ts";
import { ApiState } from "../../src/server/state/api-state.ts";
import { CONFIG_MAPS, ConfigMap } from "./api-kit.ts";

/** A server at which each link ends the creation of an object without a valid name. */
function world() {
  const server = new ApiServer({
    state: new ApiState(),
    clock: new FakeClock(),
    random: () => 0,
    served: [servedResource(ConfigMap)],
    keptRequests: 10,
  });
  const rights = new Rights([]);
  const fault = server.faults.add({ fault: { type: "status", status: 503 } });
  server.connections.isAccepting = false;
  const create = async (name: string, caller?: Rights): Promise<unknown> => {
    const body = JSON.stringify({ metadata: { name } });
    const request = { method: "POST", path: CONFIG_MAPS, headers: {}, body };
    try {
      return (await server.send(request, new AbortController().signal, caller)).status;
    } catch (error) {
      return (error as { cause: { code: string } }).cause.code;
    }
  };
  return { server, rights, fault, create };
}

it("ends a request at the connection, a fault, the rights or the admission, in this order", async () => {
  const { server, rights, fault, create } = world();
  const seen = [await create("No Name", rights)];
  server.connections.isAccepting = true;
  seen.push(await create("No Name", rights));
  fault[Symbol.dispose]();
  seen.push(await create("No Name", rights));
  seen.push(await create("No Name"));
  seen.push(await create("ann"));
  expect(seen).toEqual(["ECONNREFUSED", 503, 403, 422, 201]);
  expect(server.requests.map(({ status }) => status)).toEqual([503, 403, 422, 201]);
});

it("counts the right that a request needs if it meets a fault, and not if it never arrives", async () => {
  const { server, rights, create } = world();
  await create("ann", rights);
  expect([rights.used(), rights.missing()]).toEqual([[], []]);
  server.connections.isAccepting = true;
  await create("ann", rights);
  const rule = { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] };
  expect([rights.used(), rights.missing()]).toEqual([[rule], [rule]]);
});
