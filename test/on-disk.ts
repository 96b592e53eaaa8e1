import fs, { type FileHandle } from "node:fs/promises";
import { onTestFinished, vi } from "vitest";

/** Writes of files go through `write` until the test ends. */
export async function onDisk(
  write: (write: () => Promise<void>, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const handle = await fs.open(import.meta.filename);
  const files = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { appendFile } = files;
  const spy = vi.spyOn(files, "appendFile");
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(function (this: FileHandle, bytes) {
    return write(() => appendFile.call(this, bytes), bytes as Uint8Array);
  });
}
