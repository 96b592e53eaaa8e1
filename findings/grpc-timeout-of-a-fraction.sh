#!/usr/bin/env bash
# Package: @grpc/grpc-js 1.14.7
# Guess: a `timeout` of "0.3s" in the service config is a deadline of 300 ms, as "0.3s" is for `initialBackoff`.
# Seen: its digits after the point are read as nanoseconds: "0.3s" fails each call at once, "1.5s" is one second.
# "1.500000000s" and { seconds, nanos } are right.
. "$(dirname "$0")/lib.sh"
packages @grpc/grpc-js@1.14.7
observe <<'JS'
import grpc from "@grpc/grpc-js";
import { seconds } from "./kit.mjs";

const same = (value) => value;
const serialize = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const Get = { path: "/s/Get", requestStream: false, responseStream: false, ...serialize };
const server = new grpc.Server();
server.addService({ Get }, { Get: () => {} }); // never answers
const port = await new Promise((resolve) =>
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, bound) => resolve(bound)),
);
const Client = grpc.makeGenericClientConstructor({ Get }, "s");
for (const timeout of ["0.3s", "1s", "1.5s", "1.500000000s", { seconds: 1, nanos: 500_000_000 }]) {
  const config = JSON.stringify({ methodConfig: [{ name: [{}], timeout }] });
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), { "grpc.service_config": config });
  await new Promise((resolve) => client.waitForReady(Date.now() + 5_000, resolve));
  const begin = performance.now();
  const code = await new Promise((resolve) => client.Get(Buffer.from(""), (error) => resolve(error.code)));
  console.log(`${JSON.stringify(timeout)}: ${grpc.status[code]} after ${seconds(performance.now() - begin)} s`);
  client.close();
}
process.exit();
JS
expect <<'TEXT'
"0.3s": DEADLINE_EXCEEDED after 0 s
"1s": DEADLINE_EXCEEDED after 1 s
"1.5s": DEADLINE_EXCEEDED after 1 s
"1.500000000s": DEADLINE_EXCEEDED after 1.5 s
{"seconds":1,"nanos":500000000}: DEADLINE_EXCEEDED after 1.5 s
TEXT
