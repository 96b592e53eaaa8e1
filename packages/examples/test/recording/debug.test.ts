import { appendFileSync } from "node:fs";
import { FakeClock } from "@holdfast/clock/testing";
import { shadow } from "@holdfast/fake-apiserver";
import type { OperatorSetup } from "@holdfast/kubernetes";
import { describe, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld } from "./recorded-world.ts";

const SEEDS = (process.env.SEEDS ?? "1").split(",").map(Number);

describe.for(recordedOperators)("$name", (operator) => {
  it.for(SEEDS)("seed %d", async (seed) => {
    const clock = new FakeClock();
    const dns = new FakeDns();
    const directory = tempFolder();
    const { name, resources } = operator;
    const world = new RecordedWorld(clock, resources, { directory, seed, faultRate: Number(process.env.RATE ?? 0.2) });
    const play = async (): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        await operator.play(world, dns, round);
        await clock.sleep(20_000);
        if (round !== 5) continue;
        world.api.stop();
        await clock.sleep(60_000);
        await world.api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
      }
    };
    const recording = await clock.run(() =>
      world.record({ name, setup: operator.setup(dns) }, play),
    );
    const stats: any[] = [];
    (globalThis as any).STATS = stats; if (process.env.LOG2) (globalThis as any).LOG2 = (...a: any[]) => appendFileSync('/tmp/h-log.txt', a.join(' ').slice(0, 1500) + '\n'); if (process.env.LOG3) (globalThis as any).LOG3 = (vs: any[]) => appendFileSync('/tmp/h-log.txt', vs.map((v) => `${v.number} seen ${v.seen} ${v.by ? v.by.request.method + ' ' + v.by.at : ''} ${v.object ? v.object.kind + ' ' + v.object.metadata.name : 'X'}`).join('\n')); if (process.env.LOG) (globalThis as any).LOG = (...a: any[]) => appendFileSync('/tmp/h-log.txt', a.map((x) => typeof x === 'string' ? x : JSON.stringify(x)).join(' ') + '\n');
    const old = operator.setup(new FakeDns());
    // one read more per write, and chance drawn
    const setup: OperatorSetup = (context) => {
      const lease = { namespace: "operators", name };
      const slow = new Proxy(context.client, {
        get: (target, property) => {
          const value = Reflect.get(target, property, target) as any;
          if (typeof value !== "function") return value;
          if (!["apply", "patch", "create", "delete", "update"].includes(property as string)) return value.bind(target);
          return async (...args: any[]) => {
            context.random?.();
            await context.clock.sleep(Number(process.env.SLOW ?? 3));
            return await value.apply(target, args);
          };
        },
      });
      return old({ ...context, client: slow } as any);
    };
    const start = Date.now();
    const report = await shadow(recording, { upgradeFrom: old, setup, resources, timings: Number(process.env.T ?? 8) });
    const asked = [...recording.lines()].filter(({ k, m }) => k === "q" && m !== "GET").length;
    appendFileSync("/tmp/h-debug.txt", [name, seed, "recorded writes", asked, Date.now() - start, "ms",
      "\nnews", report.news.length, "lost", report.lost.length, "orphans", report.orphans.length, report.loop ?? "",
      "\n", stats.map((s) => JSON.stringify(s)).join("\n "),
      "\n", [...report.news, ...report.lost].map((s) => JSON.stringify(s)).join("\n "),
      "\n", report.orphans.join("\n ")].join(" ") + "\n\n");
  }, 600_000);
});
