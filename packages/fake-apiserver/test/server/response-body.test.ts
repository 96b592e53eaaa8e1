import type { Progress } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { ResponseBody } from "../../src/server/response-body.ts";

async function textOf(body: ResponseBody): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

const request = { method: "GET", path: "/" };

describe("a body", () => {
  it.each<[Progress, string]>([
    [{ bytes: 0 }, ""],
    [{ bytes: 2 }, "ab"],
    [{ bytes: 5 }, "abc\nd"],
    [{ lines: 1 }, "abc\n"],
    [{ lines: 2 }, "abc\ndef\n"],
    [{ lines: 3 }, "abc\ndef\ng"],
  ])("is cut after %j", async (after, text) => {
    const body = new ResponseBody(request, new AbortController().signal);
    body.whenReached(after, () => body.end());
    for (const part of ["abc\n", "def\ng"]) body.write(part);
    body.end();
    expect(await textOf(body)).toBe(text);
  });

  it("rejects with the reason of an abort, also when it is complete", async () => {
    const stop = new AbortController();
    const body = new ResponseBody(request, stop.signal);
    body.write("abc");
    body.end();
    stop.abort("stop");
    await expect(textOf(body)).rejects.toBe("stop");
  });
});
