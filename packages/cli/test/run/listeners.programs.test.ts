import { FakeClock } from "@holdfast/clock/testing";
import { testListener } from "../../../../test/listener.contract.ts";
import { serve } from "../../src/run/web/serve.ts";
import { ScriptedStatus } from "./scripted-status.ts";

testListener({
  row: "the page of `holdfast run`",
  most: 32,
  streams: 16,
  reply: "/state",
  hang: "/events",
  open: () => {
    const clock = new FakeClock();
    return serve({ clock, port: 0, status: new ScriptedStatus(clock) });
  },
});
