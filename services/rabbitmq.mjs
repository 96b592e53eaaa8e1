// A RabbitMQ server. Its directory lasts through stops, so that durable queues and their messages do.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "amqplib";
import { freePort } from "./free-port.mjs";
import { PASSWORD, Server, Service, started } from "./server.mjs";

/** What `rabbitmq-server` in the path calls, after it has changed to a user and directories of its own. */
export const RABBITMQ_PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** What `rabbitmqctl` in the path calls likewise. */
const CONTROL_PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmqctl";

const run = promisify(execFile);

export class RabbitServer extends Service {
  /**
   * Erlang finds its nodes by a daemon, which it would start unasked and leave behind.
   *
   * @type {Server | undefined}
   */
  #names;

  /**
   * @param {{ port: number, names: number, distribution: number }} ports
   * @param {string[]} settings lines for its configuration
   */
  constructor(ports, settings) {
    super("rabbitmq");
    this.ports = ports;
    this.port = ports.port;
    this.url = `amqp://holdfast:${PASSWORD}@127.0.0.1:${ports.port}`;
    writeFileSync(
      join(this.directory, "rabbitmq.conf"),
      [
        `listeners.tcp.1 = 127.0.0.1:${ports.port}`,
        "default_user = holdfast",
        `default_pass = ${PASSWORD}`,
        "log.console = true",
        "log.console.level = warning",
        ...settings,
        "",
      ].join("\n"),
    );
    writeFileSync(join(this.directory, "enabled_plugins"), "[].\n");
  }

  /**
   * @param {AbortSignal} [signal]
   * @param {string[]} [settings] more lines for its configuration
   */
  static async start(signal, settings = []) {
    const [port, names, distribution] = [await freePort(), await freePort(), await freePort()];
    return await started(new RabbitServer({ port, names, distribution }, settings), signal);
  }

  /** @param {AbortSignal} [signal] */
  async start(signal) {
    this.#names ??= await Server.start({
      name: "epmd",
      directory: this.directory,
      command: "epmd",
      args: ["-port", `${this.ports.names}`, "-address", "127.0.0.1"],
    });
    await this.launch(
      {
        name: "RabbitMQ",
        command: RABBITMQ_PROGRAM,
        args: [],
        env: this.#env(),
        greet: () => this.#greet(),
      },
      signal,
    );
  }

  /**
   * Stops for good.
   *
   * @override
   */
  async [Symbol.asyncDispose]() {
    await this.stop();
    await this.#names?.stop();
    await super[Symbol.asyncDispose]();
  }

  /**
   * Runs a command of `rabbitmqctl`.
   *
   * @param {string[]} args
   */
  async control(...args) {
    const { stdout } = await run(CONTROL_PROGRAM, args, {
      env: { ...process.env, ...this.#env() },
    });
    return stdout;
  }

  async #greet() {
    const connection = await connect(this.url);
    await connection.close();
  }

  #env() {
    const inDirectory = (/** @type {string} */ name) => join(this.directory, name);
    return {
      HOME: this.directory, // of Erlang's cookie
      ERL_EPMD_PORT: `${this.ports.names}`,
      ERL_EPMD_ADDRESS: "127.0.0.1",
      RABBITMQ_NODENAME: `holdfast-${this.ports.port}@localhost`,
      RABBITMQ_DIST_PORT: `${this.ports.distribution}`,
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
      RABBITMQ_CONFIG_FILE: inDirectory("rabbitmq"),
      RABBITMQ_ENABLED_PLUGINS_FILE: inDirectory("enabled_plugins"),
      RABBITMQ_MNESIA_BASE: inDirectory("mnesia"),
      RABBITMQ_LOG_BASE: inDirectory("log"),
      RABBITMQ_LOGS: "-",
      RABBITMQ_PID_FILE: inDirectory("pid"),
    };
  }
}
