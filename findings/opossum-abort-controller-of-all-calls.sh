#!/usr/bin/env bash
# Package: opossum 9.0.0
# Guess: `abortController` gives each call a signal of its own, which aborts at the timeout of that call.
# Seen: it is one controller for all: after the first timeout every later call begins with an aborted signal, although the
# circuit is closed; with `autoRenewAbortController`, too, which renews it when the circuit changes its state.
. "$(dirname "$0")/lib.sh"
packages opossum@9.0.0
observe <<'JS'
import Opossum from "opossum";
import { sleep } from "./kit.mjs";

for (const renew of [false, true]) {
  const abortController = new AbortController();
  let calls = 0;
  const breaker = new Opossum(
    async () => {
      const signal = renew ? breaker.getSignal() : abortController.signal;
      console.log(`renewed ${renew}, call ${++calls}: signal ${signal.aborted ? "aborted" : "not aborted"} at its begin`);
      if (calls === 1) await sleep(300);
    },
    { timeout: 100, volumeThreshold: 10, abortController, autoRenewAbortController: renew },
  );
  await breaker.fire().catch((error) => console.log(error.code));
  await sleep(300);
  await breaker.fire();
  breaker.shutdown();
}
process.exit();
JS
expect <<'TEXT'
renewed false, call 1: signal not aborted at its begin
ETIMEDOUT
renewed false, call 2: signal aborted at its begin
renewed true, call 1: signal not aborted at its begin
ETIMEDOUT
renewed true, call 2: signal aborted at its begin
TEXT
