// A server of NATS with JetStream. Its directory lasts through stops, so that streams and their messages do.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@nats-io/transport-node";
import { freePort } from "./free-port.mjs";
import { PASSWORD, Service, started } from "./server.mjs";

/**
 * The options of a connection: the client leaves the user and the password of a URL out.
 *
 * @param {string} url
 */
export function natsOptions(url) {
  const { host, username, password } = new URL(url);
  return { servers: host, user: username, pass: password, maxReconnectAttempts: -1 };
}

export class NatsServer extends Service {
  /** @param {number} port */
  constructor(port) {
    super("nats");
    this.port = port;
    this.url = `nats://holdfast:${PASSWORD}@127.0.0.1:${port}`;
    // Not as arguments: every user of the machine sees those.
    writeFileSync(
      this.#config,
      `listen: 127.0.0.1:${port}
authorization { user: holdfast, password: "${PASSWORD}" }
jetstream { store_dir: ${JSON.stringify(this.directory)} }
`,
    );
  }

  /** @param {AbortSignal} [signal] */
  static async start(signal) {
    return await started(new NatsServer(await freePort()), signal);
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    await this.launch(
      {
        name: "NATS",
        command: "nats-server",
        args: ["--config", this.#config],
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  get #config() {
    return join(this.directory, "nats.conf");
  }

  async #greet() {
    const connection = await connect({ ...natsOptions(this.url), reconnect: false });
    await connection.close();
  }
}
