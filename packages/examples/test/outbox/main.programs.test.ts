import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Program } from "../program.ts";

const run = (...args: string[]) => new Program("outbox/main.js", args);

it("sends each order to the receiver", async () => {
  await using program = run("--orders", "2");
  await program.printed(/receiver: 200\nreceiver: 200\n2 orders, each sent\n/);
  expect(await program.exited).toBe(0);
});

it("keeps the message of an order that was not sent for the next run", async () => {
  const folder = join(tempFolder(onTestFinished), "shop");
  {
    await using program = run("--orders", "3", "--folder", folder);
    await program.printed(/receiver: 500\n/);
    program.child.kill("SIGINT");
    await program.printed(/stopped; messages in the outbox: 1\n/);
    expect(await program.exited).toBe(0);
  }
  await using program = run("--orders", "2", "--folder", folder);
  await program.printed(/2 orders, each sent\n/);
});
