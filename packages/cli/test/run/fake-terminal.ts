import { Writable } from "node:stream";

/** A terminal that keeps each frame written to it. */
export class FakeTerminal extends Writable {
  readonly rows = 20;
  readonly frames: string[] = [];
  columns: number;

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  /** The terminal, with the type of `process.stdout`. */
  get stream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.frames.push(chunk.toString());
    done();
  }
}
