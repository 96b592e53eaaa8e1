import { running, testListener } from "../../../../test/listener.contract.ts";
import { CommandWorld } from "./fake-io.ts";

testListener({
  row: "the page of an outbox",
  most: 32,
  streams: 16,
  reply: "/state",
  hang: "/view",
  open: async () => {
    let print: (text: string) => void = () => undefined;
    const printed = new Promise<string>((resolve) => {
      print = resolve;
    });
    return await running(
      (signal) => new CommandWorld().run(["page"], { signal, print }),
      async () => new URL((await printed).trim()).origin,
    );
  },
});
