// A server of a database or a broker on this machine, for as long as somebody needs it: its process,
// its directory, and whether it answers.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { endWithParent } from "./parent.mjs";

/** How long a server may take until it answers, and until it has stopped: a busy machine is slow. */
const PATIENCE = 90_000;

/**
 * @typedef {object} User
 * @property {number} uid
 * @property {number} gid
 */

/**
 * @typedef {object} Launch
 * @property {string} name for people
 * @property {string} directory of the server alone; see {@link makeDirectory}
 * @property {string} command
 * @property {string[]} args
 * @property {Record<string, string>} [env]
 * @property {User | undefined} [user] another than this program's
 * @property {() => Promise<unknown>} [greet] a request that only a server that is ready answers;
 * without it, it is ready when it runs
 */

/** Every server that was started and has not been seen to end. @type {Set<Server>} */
const running = new Set();
/** @type {Set<string>} */
const directories = new Set();

// However this process ends, short of SIGKILL, nothing is left behind.
process.once("exit", clear);
for (const name of /** @type {const} */ (["SIGHUP", "SIGINT", "SIGTERM"])) process.on(name, endBy);

/**
 * Ends this process by a signal, unless it has handlers of its own: these stop the servers in good order.
 *
 * @param {NodeJS.Signals} name
 */
function endBy(name) {
  if (process.listenerCount(name) > 1) return;
  clear();
  process.off(name, endBy);
  process.kill(process.pid, name);
}

function clear() {
  for (const server of running) server.signal("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/**
 * The user for a server that refuses to run as root; undefined if this program does not either.
 *
 * @param {string} name of the user that the server's package has made
 * @returns {User | undefined}
 */
export function userFor(name) {
  if (process.getuid?.() !== 0) return undefined;
  const id = (/** @type {string} */ option) =>
    Number(execFileSync("id", [option, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** The password of the servers that this process starts: other users of the machine reach their ports. */
export const PASSWORD = randomBytes(16).toString("hex");

/**
 * A directory for a server, gone with this process.
 *
 * @param {string} name
 * @param {User} [user] who owns it
 */
export function makeDirectory(name, user) {
  const directory = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  directories.add(directory);
  enroll(basename(directory), directory);
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  return directory;
}

/** @param {string} directory */
export function removeDirectory(directory) {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  directories.delete(directory);
  strike(basename(directory));
}

/**
 * Writes something down for the program that started this one: it clears away what is left when this
 * one was killed.
 *
 * @param {string} name a process id, or any other name for a directory alone
 * @param {string} directory
 */
function enroll(name, directory) {
  const roll = process.env["HOLDFAST_SERVICES_ROLL"];
  if (roll !== undefined) writeFileSync(join(roll, name), directory);
}

/** @param {string} name */
function strike(name) {
  const roll = process.env["HOLDFAST_SERVICES_ROLL"];
  if (roll !== undefined) rmSync(join(roll, name), { force: true });
}

/**
 * Starts a service, and leaves nothing of it if that fails.
 *
 * @template {AsyncDisposable & { start(signal?: AbortSignal): Promise<void> }} Service
 * @param {Service} service
 * @param {AbortSignal} [signal]
 */
export async function started(service, signal) {
  try {
    await service.start(signal);
    return service;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/** A server whose directory lasts through stops. */
export class Service {
  /** @type {Server | undefined} */ #server;
  /** @type {NodeJS.Signals | undefined} */ #stopSignal;

  /**
   * @param {string} name of its directory
   * @param {{ user?: User | undefined, stopSignal?: NodeJS.Signals }} [options] `stopSignal`: it takes it for the question to stop
   */
  constructor(name, { user, stopSignal } = {}) {
    this.user = user;
    this.directory = makeDirectory(name, user);
    this.#stopSignal = stopSignal;
  }

  /**
   * @protected
   * @param {Omit<Launch, "directory" | "user">} launch
   * @param {AbortSignal | undefined} signal
   */
  async launch(launch, signal) {
    const { directory, user } = this;
    this.#server = await Server.start({ ...launch, directory, user }, signal);
  }

  async stop() {
    await this.#server?.stop(this.#stopSignal);
  }

  async kill() {
    await this.#server?.kill();
  }

  /** Stops for good. */
  async [Symbol.asyncDispose]() {
    await this.stop();
    removeDirectory(this.directory);
  }
}

export class Server {
  /** @type {Launch} */ #launch;
  /** @type {import("node:child_process").ChildProcess} */ #child;
  /** When its last process is gone. @type {Promise<unknown>} */ #ended;

  /** @param {Launch} launch */
  constructor(launch) {
    const { command, args, env, directory, user } = launch;
    endWithParent();
    const log = openSync(join(directory, "out.log"), "a");
    this.#launch = launch;
    // A group of its own: Ctrl-C is for this program, which then stops its servers one by one.
    this.#child = spawn(command, args, {
      cwd: directory,
      detached: true,
      env: { ...process.env, ...env },
      // The last one is a pipe that every process of the server inherits. It closes with the last of
      // them: PostgreSQL's leave the group, and hold its memory for a moment after it was killed.
      stdio: ["ignore", log, log, "pipe"],
      ...user,
    });
    closeSync(log);
    running.add(this);
    // The number 0 would stand for the process group of whoever clears away.
    if (this.#child.pid !== undefined) enroll(String(this.#child.pid), directory);
    this.#child.once("exit", () => this.signal("SIGKILL")); // to what it forked and left behind
    this.#ended = once(this.#child, "close").finally(() => this.#bury());
    this.#ended.catch(() => undefined);
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param {Launch} launch
   * @param {AbortSignal} [signal]
   */
  static async start(launch, signal) {
    signal?.throwIfAborted();
    const server = new Server(launch);
    try {
      await server.#ready(signal);
    } catch (error) {
      await server.kill();
      throw error;
    }
    return server;
  }

  get pid() {
    return this.#child.pid ?? 0;
  }

  /** What the server has written last. */
  get lastWords() {
    return readFileSync(join(this.#launch.directory, "out.log"), "utf8").trim().slice(-2_000);
  }

  /**
   * Asks the server to stop, waits until it has, and kills it if it does not.
   *
   * @param {NodeJS.Signals} [signal] which it takes for the question
   */
  async stop(signal = "SIGTERM") {
    if (!running.has(this)) return;
    this.#child.kill(signal);
    const timer = realClock.afterFunc(PATIENCE, () => this.signal("SIGKILL"));
    await this.#ended;
    timer.stop();
  }

  /** Kills the server and all that belongs to it, as if the machine had lost it. */
  async kill() {
    this.signal("SIGKILL");
    await this.#ended.catch(() => undefined);
  }

  /** @param {NodeJS.Signals} signal for every process of the server */
  signal(signal) {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // ESRCH: nobody is left.
    }
  }

  /** @param {AbortSignal | undefined} signal */
  async #ready(signal) {
    const { name, greet = async () => true } = this.#launch;
    /** @type {unknown} */
    let last;
    const ended = this.#ended.then(
      () => {
        throw new Error(`${name} ended before it was ready; it wrote:\n${this.lastWords}`);
      },
      (error) => {
        throw new Error(`${name} did not start: ${error.message}`, { cause: error });
      },
    );
    const answer = poll(() => greet().then(() => true), {
      backoff: { duration: 25, factor: 1.3, cap: 500 },
      timeout: PATIENCE,
      signal,
      onError: (error) => {
        last = error;
      },
    }).catch((error) => {
      throw signal?.aborted
        ? error
        : new Error(`${name} did not respond: ${last}`, { cause: error });
    });
    ended.catch(() => undefined);
    answer.catch(() => undefined);
    await Promise.race([answer, ended]);
  }

  #bury() {
    running.delete(this);
    strike(String(this.#child.pid));
  }
}
