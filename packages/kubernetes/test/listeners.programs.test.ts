import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, HealthServer } from "@holdfast/kubernetes";
import { running, testListener } from "../../../test/listener.contract.ts";

testListener({
  row: "`HealthServer`, `runOperator`",
  most: 100,
  reply: "/healthz",
  hang: "/metrics",
  open: async () => {
    const metrics = (): Promise<never> => new Promise(() => undefined);
    const server = new HealthServer({ port: 0, host: "127.0.0.1", metrics });
    return await running(
      (signal) => server.run(signal),
      async () => {
        await server.ready();
        return `http://127.0.0.1:${server.port}/`;
      },
    );
  },
});

testListener({
  row: "`FakeApi.listen`, for tests",
  most: 1_000,
  reply: "/version",
  hang: "/api/v1/pods?watch=true",
  open: () => new FakeApi({ clock: realClock, resources: [builtIn("v1", "Pod")] }).listen(),
});
