import { type Clock, onAbort } from "@holdfast/clock";
import { type ChannelModel, connect, type SocketOptions } from "amqplib";
import { RabbitChannel, type RabbitChannelHooks } from "./rabbit-channel.ts";
import type { RabbitSecurity } from "./rabbit-tls.ts";

/** Maximum time of the broker to confirm the close of a connection, in milliseconds. */
const CLOSE_TIMEOUT = 2_000;

/** Options for {@link RabbitSession.open}. */
export interface OpenRabbitSession {
  readonly url: string;
  readonly security: RabbitSecurity | undefined;
  readonly clock: Clock;
  /** The maximum number of channels. */
  readonly channels: number;
  /** Called when a channel may have become available. */
  readonly onAvailable: () => void;
  /** Ends an attempt that has not succeeded yet. */
  readonly signal: AbortSignal;
}

/** The parts of a session. */
interface RabbitSessionParts extends Pick<OpenRabbitSession, "clock" | "channels" | "onAvailable"> {
  readonly connection: ChannelModel;
  /** Its abort destroys the socket. */
  readonly socket: AbortController;
}

/** One connection to a broker, and its channels, each used by one publication at a time. */
export class RabbitSession {
  /** Resolves when the connection has ended: to why, or to undefined after a close. */
  readonly ended: Promise<Error | undefined>;
  readonly #parts: RabbitSessionParts;
  readonly #hooks: RabbitChannelHooks;
  #idle: RabbitChannel[] = [];
  /** The number of channels that are being opened, open, or being closed. */
  #count = 0;
  /** The maximum of that number. The broker may allow fewer than were asked for. */
  #most: number;
  /** A broker that is short of memory or disk blocks a connection: it stops reading from it. */
  #state: "open" | "blocked" | "ended" = "open";

  private constructor(parts: RabbitSessionParts) {
    const { connection, channels, onAvailable } = parts;
    this.#parts = parts;
    this.#most = channels;
    this.#hooks = {
      onIdle: (channel) => {
        this.#idle.push(channel);
        onAvailable();
      },
      onClose: (channel) => {
        this.#idle = this.#idle.filter((idle) => idle !== channel);
        this.#leave();
      },
    };
    this.ended = new Promise((resolve) => {
      const end = (error?: Error): void => {
        this.#state = "ended";
        resolve(error);
      };
      connection.on("error", end);
      connection.on("close", end);
    });
    connection.on("blocked", () => this.#turn("open", "blocked"));
    connection.on("unblocked", () => this.#turn("blocked", "open"));
  }

  /** Connects. */
  static async open({
    url,
    security,
    signal,
    ...parts
  }: OpenRabbitSession): Promise<RabbitSession> {
    const socket = new AbortController();
    const subscription = onAbort(signal, (reason) => socket.abort(reason));
    try {
      const connection = await connect(url, {
        ...security,
        signal: socket.signal,
      } as SocketOptions);
      return new RabbitSession({ ...parts, connection, socket });
    } catch (error) {
      socket.abort(error);
      throw error;
    } finally {
      subscription[Symbol.dispose]();
    }
  }

  /** Whether {@link RabbitSession.acquire} has a channel. */
  get isAvailable(): boolean {
    return this.#state === "open" && (this.#idle.length > 0 || this.#count < this.#most);
  }

  /**
   * Returns a channel. It belongs to the caller until it reports that it is idle or closed.
   *
   * @returns undefined if there is none after all: the connection has ended, or allows no more channels
   */
  async acquire(): Promise<RabbitChannel | undefined> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    this.#count++;
    try {
      return await RabbitChannel.open(this.#parts.connection, this.#hooks);
    } catch (error) {
      const others = this.#count - 1;
      if (this.#state !== "ended" && others > 0) this.#most = Math.min(this.#most, others);
      this.#leave();
      if (this.#state !== "ended" && others === 0) throw error;
      return undefined;
    }
  }

  /** Closes the connection, in good order if the broker still responds. */
  async close(): Promise<void> {
    const { connection, socket, clock } = this.#parts;
    await new Promise<void>((resolve) => {
      const timer = clock.afterFunc(CLOSE_TIMEOUT, resolve, {
        label: "closing the connection to the broker",
      });
      const done = (): void => {
        timer.stop();
        resolve();
      };
      connection.close().then(done, done);
    });
    socket.abort();
  }

  #leave(): void {
    this.#count--;
    this.#parts.onAvailable();
  }

  #turn(from: "open" | "blocked", to: "open" | "blocked"): void {
    if (this.#state !== from) return;
    this.#state = to;
    this.#parts.onAvailable();
  }
}
