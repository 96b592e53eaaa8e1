import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";

/** A server that listens, and runs until it is disposed. */
type Open = () => Promise<{ readonly url: string } & AsyncDisposable>;

/** A listener of the repository. */
export interface Listener {
  /** Its row in docs/security.md. */
  readonly row: string;
  /** Connections at most. */
  readonly most: number;
  /** Streams at most, if it has any. */
  readonly streams?: number;
  /** A path that is answered. */
  readonly reply: string;
  /** A path whose answer does not end. */
  readonly hang: string;
  readonly open: Open;
}

/** Runs something that listens until it is disposed. */
export async function running(
  run: (signal: AbortSignal) => Promise<unknown>,
  url: () => Promise<string>,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const stop = new AbortController();
  const end = run(stop.signal);
  return {
    url: await url(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await end;
    },
  };
}

/** Connections to a listener that close when it closes them, or with their use. */
class Peers implements Disposable {
  readonly #sockets: Socket[] = [];

  /** Opens so many, ten at a time, and writes to each. */
  async open(url: string, count: number, text: string): Promise<void> {
    const { port } = new URL(url);
    for (let left = count; left > 0; left -= 10)
      await Promise.all(
        Array.from({ length: Math.min(10, left) }, async () => {
          const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
          this.#sockets.push(socket);
          await new Promise((resolve) => socket.once("connect", resolve));
          socket.resume().write(text);
        }),
      );
  }

  get left(): number {
    return this.#sockets.filter(({ closed }) => !closed).length;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const head = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;

/** What holds for every listener: a peer costs no more than its connections, and nobody shuts out others. */
export function testListener({ row, most, streams, reply, hang, open }: Listener): void {
  describe(row, () => {
    it(`keeps ${most} connections at most, and hears a new one beside more`, async () => {
      await using server = await open();
      using peers = new Peers();
      await peers.open(server.url, Math.max(600, most + 100), head(hang));
      expect((await fetch(new URL(reply, server.url))).status).toBe(200);
      await expect.poll(() => peers.left).toBeLessThanOrEqual(most);
    });

    it("closes a connection that is silent, slow with its head, or sends two requests at once", async () => {
      await using server = await open();
      using peers = new Peers();
      for (const text of ["", "GET / HTTP/1.1\r\nhost:", head(hang).repeat(2)])
        await peers.open(server.url, 2, text);
      await expect.poll(() => peers.left).toBe(0);
    });

    if (streams !== undefined)
      it(`has ${streams} streams at most: a further one takes the place of the oldest`, async () => {
        await using server = await open();
        using peers = new Peers();
        await peers.open(server.url, 24, head(hang));
        await expect.poll(() => peers.left).toBe(streams);
      });

    it("has a row with these bounds in docs/security.md", () => {
      const guide = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");
      const line = guide.split("\n").find((one) => one.startsWith(`| ${row} |`));
      expect(line).toContain(`${most.toLocaleString("en-US")} connections`);
      if (streams !== undefined) expect(line).toContain(`${streams} streams`);
    });
  });
}
