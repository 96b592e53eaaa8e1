import { testListener } from "../../../../test/listener.contract.ts";
import { servePage } from "../../src/dns-sync/serve-page.ts";

testListener({
  row: "the page of `npm run dns-sync`",
  most: 32,
  reply: "/state",
  hang: "/events",
  open: () =>
    servePage({ port: 0, page: new URL(import.meta.url), state: () => ({}), actions: {} }),
});
