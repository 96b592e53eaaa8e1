// A replica that answers the webhooks of `replica-task.mjs` with certificates of its own, put together as `runOperator`
// does. The times of the certificates are arguments here. It says "up" and its port when it listens. Arguments: its
// identity, the namespace, the times as JSON or null for the usual ones, and whether each call needs a handshake.
import { subscribe } from "node:diagnostics_channel";
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { atUrl } from "@holdfast/kubernetes";
import { SelfCertificates } from "../../dist/webhook/certificates/self-certificates.js";
import { trustTargets } from "../../dist/webhook/certificates/trust-targets.js";
import { WebhookServer } from "../../dist/webhook/webhook-server.js";
import { check, Tasks } from "./replica-task.mjs";

const [, namespace = "", times = "null", isAlone] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;

if (isAlone === "true")
  subscribe("http.server.request.start", (message) => {
    const { response } = /** @type {{ response: import("node:http").ServerResponse }} */ (message);
    response.setHeader("connection", "close");
  });

const common = { clock: realClock, logger: silentLogger };
const server = new WebhookServer({
  ...{ ...common, port: 0, host: undefined, clientCa: undefined, drain: 0 },
  ...{ hooks: [check], convert: [Tasks], context: /** @type {never} */ ({}), metrics: undefined },
});
const certificates = new SelfCertificates({
  ...{ ...common, random: undefined, operator: "tasks", times: JSON.parse(times) ?? undefined },
  transport: atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN }),
  secret: { name: "hooks-certificates", namespace },
  names: [`hooks.${namespace}.svc`],
  targets: trustTargets({
    ...{ name: `hooks.${namespace}`, types: ["validating"] },
    definitions: [`${Tasks.plural}.${Tasks.group}`],
  }),
  show: (pair) => server.show(pair),
});
const { signal } = new AbortController();
void server.ready().then(() => process.stdout.write(`up ${server.port}\n`));
await Promise.race([server.run(signal), certificates.run(signal)]);
