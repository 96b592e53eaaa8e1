import type { State } from "../../src/dns-sync/board.ts";
import type { PageOptions } from "../../src/dns-sync/page.ts";

/** A run with one Lease, which replica-1 held until it was killed, and replica-2 took over. */
export const STATE: State = {
  at: 60_000,
  start: 0,
  api: "a fake API server",
  replicas: [{ name: "replica-2", pid: 7, look: "replica2" }],
  leases: [
    {
      name: "dns-sync",
      holder: "replica-2",
      token: "2",
      wantedBy: "",
      records: { all: 5, synced: 5 },
      handOver: 8_214,
      spans: [
        { at: 0, look: "free", text: "free" },
        { at: 1_000, look: "replica1", text: "replica-1" },
        { at: 20_000, look: "free", text: "replica-1 is gone" },
        { at: 28_214, look: "replica2", text: "replica-2" },
      ],
    },
  ],
  records: { all: 5, synced: 5 },
  provider: { records: 5, requests: 10, overQuota: 0, refused: 0, fault: "" },
  log: [{ at: 28_214, text: "<b>" }],
};

/** Always the same. */
export const SOURCE: PageOptions["status"] = {
  snapshot: () => STATE,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
