// Calls of the system that may take as long as they like: of a name server, or of a network file system. A thread of
// this process that makes one cannot be stopped, and Node waits for its threads when it exits.
import { type ChildProcess, spawn } from "node:child_process";
import { getDefaultResultOrder, type LookupAddress, type LookupAllOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import type { ReadFileOptions } from "@holdfast/kit/node";

/** What a call asks for. */
type Request =
  | { readonly call: "lookup"; readonly name: string; readonly options: LookupAllOptions }
  | { readonly call: "stat" | "realpath"; readonly path: string }
  | { readonly call: "read"; readonly path: string; readonly limits: Required<ReadFileOptions> };

/** Identity, age and kind of a file. */
interface FileState {
  readonly size: number;
  readonly mtimeMs: number;
  readonly isDirectory: boolean;
  /** Whether it is a pipe, a device or a socket: it can be read once, and does not change. */
  readonly isReadOnce: boolean;
  /** Changes with each change of the file, or of the path to it. */
  readonly version: string;
}

interface Answer {
  readonly id: string;
  readonly error: { readonly code?: string; readonly message: string } | null;
  readonly value: unknown;
}

/** Makes the calls. Its own threads may hang as well: it ends by SIGKILL. */
const PROGRAM = `
process.title = "holdfast, looking up names and files";
const dns = require("node:dns/promises");
const { constants } = require("node:fs");
const { open, realpath, stat } = require("node:fs/promises");
const CALLS = {
  lookup: ({ name, options }) => dns.lookup(name, options),
  realpath: ({ path }) => realpath(path),
  stat: async ({ path }) => {
    const { dev, ino, size, mtimeNs, ctimeNs, ...found } = await stat(path, { bigint: true });
    const kind = found.mode & BigInt(constants.S_IFMT);
    const isDirectory = kind === BigInt(constants.S_IFDIR);
    const isReadOnce = [constants.S_IFIFO, constants.S_IFCHR, constants.S_IFSOCK].map(BigInt).includes(kind);
    const version = [dev, ino, size, mtimeNs, ctimeNs].join(" ");
    return { size: Number(size), mtimeMs: Number(mtimeNs) / 1e6, isDirectory, isReadOnce, version };
  },
  read: async ({ path, limits: { pipes, longest } }) => {
    const file = await open(path, constants.O_RDONLY | (pipes ? 0 : constants.O_NONBLOCK));
    try {
      const found = await file.stat();
      if (!pipes && !found.isFile() && !found.isDirectory()) throw new Error("it is not a regular file");
      const chunks = [];
      for (let length = 0; length <= longest; ) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(65536), 0, 65536, null);
        if (bytesRead === 0) return Buffer.concat(chunks);
        chunks.push(buffer.subarray(0, bytesRead));
        length += bytesRead;
      }
      throw new Error("it is longer than " + longest / 1e6 + " MB");
    } finally {
      await file.close();
    }
  },
};
process.on("message", ({ id, request }) => {
  const answer = (error, value) =>
    process.send({ id, error: error && { code: error.code, message: error.message }, value });
  CALLS[request.call](request).then((value) => answer(null, value), answer);
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
`;
/** Half of the threads look names up, so many names may hang before another one waits. */
const THREADS = "128";

interface Call {
  readonly answer: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

let caller: ChildProcess | undefined;
/** The calls under way: none is made twice at a time. */
const calls = new Map<string, Call>();
let reads = 0;

process.once("exit", () => caller?.kill("SIGKILL"));

/** A process that makes the calls, and that this process leaves behind without a wait. */
function startCaller(): ChildProcess {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const started = spawn(process.execPath, ["-e", PROGRAM], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    detached: true, // A Ctrl-C of the terminal is for holdfast.
    env: { ...env, UV_THREADPOOL_SIZE: THREADS },
  });
  const fail = (error: Error): void => {
    if (caller !== started) return;
    caller = undefined;
    for (const { reject } of calls.values()) reject(error);
  };
  started.once("error", fail);
  started.once("exit", () =>
    fail(new Error("the process that makes calls of the system was interrupted")),
  );
  started.on("message", ({ id, error, value }: Answer) => {
    if (error === null) calls.get(id)?.resolve(value);
    else calls.get(id)?.reject(Object.assign(new Error(error.message), { code: error.code }));
  });
  started.unref();
  started.channel?.unref();
  return started;
}

/** Starts the process that makes the calls, while this one loads what asks for them. */
export function expectCalls(): void {
  caller ??= startCaller();
}

/** The answer to a request; that of the same request, if it is under way. */
function call(request: Request): Promise<unknown> {
  // What is read may have changed since a read began.
  const id = JSON.stringify(request.call === "read" ? [request, reads++] : request);
  const { answer } = calls.get(id) ?? makeCall(id, request);
  return answer;
}

function makeCall(id: string, request: Request): Call {
  let settle!: Pick<Call, "resolve" | "reject">;
  const answer = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  }).finally(() => {
    calls.delete(id);
    if (calls.size === 0) caller?.channel?.unref();
  });
  const made = { answer, ...settle };
  calls.set(id, made);
  caller ??= startCaller();
  caller.channel?.ref();
  caller.send({ id, request }, (error) => error && made.reject(error));
  return made;
}

/** The addresses of a name, as the system resolves it. */
async function addressesOf(name: string, options: LookupAllOptions): Promise<LookupAddress[]> {
  const order = options.order ?? getDefaultResultOrder();
  return (await call({
    call: "lookup",
    name,
    options: { ...options, order, all: true },
  })) as LookupAddress[];
}

/** `lookup` of node:dns, for connections: it keeps neither this process nor a thread of it. */
export const lookup: LookupFunction = (name, { all, family, hints, order }, callback) => {
  const options = { family, hints, order } as LookupAllOptions;
  addressesOf(name, options).then(
    (found) => {
      if (all === true) callback(null, found);
      else callback(null, found[0]?.address ?? "", found[0]?.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, ""),
  );
};

/** Resolves if the system resolves a name; rejects with its error if not. */
export async function resolveName(name: string): Promise<void> {
  await addressesOf(name, { all: true });
}

/** `stat` of node:fs. */
export async function fileState(path: string): Promise<FileState> {
  return (await call({ call: "stat", path })) as FileState;
}

/** `realpath` of node:fs. */
export async function realPath(path: string): Promise<string> {
  return (await call({ call: "realpath", path })) as string;
}

/** As `readBytes` of the kit, which reads with a thread of this process. */
export async function readFile(path: string, limits: Required<ReadFileOptions>): Promise<Buffer> {
  return Buffer.from((await call({ call: "read", path, limits })) as Uint8Array);
}
