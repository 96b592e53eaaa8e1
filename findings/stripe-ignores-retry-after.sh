#!/usr/bin/env bash
# Package: stripe 23.1.0
# Guess: Retry-After is honoured up to a minute, for 429 and 503.
# Seen: it is not read at all: the first retry of a 503 comes 0.5 s later. A 429 is not retried.
. "$(dirname "$0")/lib.sh"
packages stripe@23.1.0
observe <<'JS'
import Stripe from "stripe";
import { busy, serve } from "./kit.mjs";

for (const [status, wait] of [[503, "2"], [503, "30"], [429, "2"]]) {
  const server = await serve(busy(1, status, { "retry-after": wait }));
  const stripe = new Stripe("sk_test_key", { host: "127.0.0.1", port: server.port, protocol: "http" });
  const outcome = await stripe.customers.retrieve("cus_1").then(() => "resolved", () => "rejected");
  console.log(`${status} with Retry-After: ${wait}: next request after ${server.delay()}, ${outcome}`);
  server.close();
}
JS
expect <<'TEXT'
503 with Retry-After: 2: next request after 0.5, resolved
503 with Retry-After: 30: next request after 0.5, resolved
429 with Retry-After: 2: next request after none, rejected
TEXT
