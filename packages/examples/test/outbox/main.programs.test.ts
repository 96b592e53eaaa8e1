import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startPGlite } from "../../../../test/empty-pglite.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Program } from "../program.ts";

it("sends each order to the receiver, from a database in memory", async () => {
  await using program = new Program("outbox/main.js", ["--orders", "2"]);
  await program.printed(/receiver: 200\nreceiver: 200\n2 orders, each sent\n/);
  expect(await program.exited).toBe(0);
});

it("keeps the message of an order that was not sent for the next run", async () => {
  const folder = join(tempFolder(onTestFinished), "shop");
  await (await startPGlite(folder)).close();
  const run = (orders: number) =>
    new Program("outbox/main.js", ["--orders", `${orders}`, "--folder", folder]);
  {
    await using program = run(3);
    await program.printed(/receiver: 500\n/);
    program.child.kill("SIGINT");
    await program.printed(/stopped; messages in the outbox: 1\n/);
    expect(await program.exited).toBe(0);
  }
  await using program = run(2);
  await program.printed(/2 orders, each sent\n/);
  expect(await program.exited).toBe(0);
});
