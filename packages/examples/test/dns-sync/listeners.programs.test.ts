import { testListener } from "../../../../test/listener.contract.ts";
import { servePage } from "../../src/dns-sync/page.ts";
import { SOURCE } from "./page-state.ts";

testListener({
  row: "the page of `npm run dns-sync`",
  most: 32,
  reply: "/state",
  streams: 16,
  hang: "/events",
  open: () => servePage({ port: 0, status: SOURCE, actions: {} }),
});
