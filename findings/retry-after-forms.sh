#!/usr/bin/env bash
# Package: got 16.1.0, ky 2.1.0, undici 8.13.1, openai 6.49.0
# Guess: a Retry-After of 1.5 waits 1.5 s, a negative one or a past date is a retry at once.
# Seen: got and ky take 1.5 for no delay and use their backoff, which is shorter; undici and openai wait 1.5 s. A past
# date is a retry at once for got and ky, and the backoff for undici. openai sleeps -5 s: at once, with a warning.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages got@16.1.0 ky@2.1.0 undici@8.13.1 openai@6.49.0
observe --no-warnings <<'JS'
import got from "got";
import ky from "ky";
import OpenAI from "openai";
import { Agent, fetch, RetryAgent } from "undici";
import { busy, serve } from "./kit.mjs";

const clients = {
  got: (url) => got(url),
  ky: (url) => ky(url),
  undici: (url) => fetch(url, { dispatcher: new RetryAgent(new Agent()) }),
  openai: (url) => new OpenAI({ apiKey: "key", baseURL: url }).models.list(),
};
const forms = { "1.5": "1.5", "-5": "-5", "past date": new Date(Date.now() - 10_000).toUTCString() };
// The backoff of got is about 1 s, of ky 0.3 s, of undici 0.5 s, of openai 0.4 to 0.5 s.
const nameOf = (delay) => (delay < 0.2 ? "at once" : delay < 1.45 ? "own backoff" : "1.5 s");
for (const [form, value] of Object.entries(forms)) {
  const seen = await Promise.all(
    Object.entries(clients).map(async ([name, call]) => {
      const server = await serve(busy(1, 503, { "retry-after": value }));
      await call(server.url);
      const delay = server.delay(0.01);
      server.close();
      return `${name} ${nameOf(delay)}`;
    }),
  );
  console.log(`Retry-After: ${form}: ${seen.join(", ")}`);
}
process.exit();
JS
expect <<'TEXT'
Retry-After: 1.5: got own backoff, ky own backoff, undici 1.5 s, openai 1.5 s
Retry-After: -5: got own backoff, ky own backoff, undici own backoff, openai at once
Retry-After: past date: got at once, ky at once, undici own backoff, openai at once
TEXT
