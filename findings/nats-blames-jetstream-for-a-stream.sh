#!/usr/bin/env bash
# Package: @nats-io/jetstream 3.4.0, @nats-io/transport-node 3.4.0, nats-server 2.9
# Guess: `publish` to a subject that no stream has rejects with an error that says so.
# Seen: "jetstream is not enabled", although it is. Only its causes tell: nobody answered for the subject.
. "$(dirname "$0")/lib.sh"
needs nats-server
server nats
packages @nats-io/jetstream@3.4.0 @nats-io/transport-node@3.4.0
observe <<'JS'
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const { host, username: user, password: pass } = new URL(process.env.URL);
const connection = await connect({ servers: host, user, pass });
const manager = await jetstreamManager(connection);
await manager.streams.add({ name: "orders", subjects: ["orders.>"] });
const { stream } = await jetstream(connection).publish("orders.paid", "1");
console.log(`orders.paid: in the stream ${stream}`);
await jetstream(connection).publish("order.paid", "1").catch((error) => {
  for (let cause = error; cause; cause = cause.cause) console.log(`order.paid: ${cause.name}: ${cause.message}`);
});
await connection.close();
JS
expect <<'TEXT'
orders.paid: in the stream orders
order.paid: JetStreamNotEnabled: jetstream is not enabled
order.paid: RequestError: no responders: 'order.paid'
order.paid: NoResponders: no responders: 'order.paid'
TEXT
