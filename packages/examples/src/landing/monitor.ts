import { Controller, resync } from "@holdfast/controller";

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const sites = ["https://example.org", "https://example.com"];
const monitor = new Controller({
  name: "monitor",
  sources: [resync({ list: () => sites, interval: 60_000 })],
  async reconcile({ key, signal }) {
    const { ok } = await fetch(key, { method: "HEAD", signal });
    if (!ok) throw new Error(`${key} is down`);
  },
});
await monitor.run(stop.signal);
