import { expect, it } from "vitest";
import { Program } from "../program.ts";

/** Replaces `fetch` in the program: it prints each call, and the first one of each site fails, without a log. */
const STUB = `
  console.warn = () => {};
  const seen = new Set();
  globalThis.fetch = async (url, { method = "GET" }) => {
    const isBusy = !seen.has(url);
    seen.add(url);
    console.log(method + " " + url + " " + (isBusy ? 503 : 200));
    return new Response(isBusy || method === "HEAD" ? null : "hello", { status: isBusy ? 503 : 200 });
  };
`;
const withStub = ["--import", `data:text/javascript,${encodeURIComponent(STUB)}`];

it("the first sample of the front page calls again until it succeeds", async () => {
  await using program = new Program("landing/call.js", [], withStub);
  expect(await program.exited).toBe(0);
  expect(program.stdout).toBe("GET https://example.org 503\nGET https://example.org 200\nhello\n");
});

it("the first sample of the front page ends quietly at SIGTERM, within a delay", async () => {
  await using program = new Program("landing/call.js", [], withStub);
  await program.printed(/503\n/);
  program.child.kill("SIGTERM");
  expect(await program.exited).toBe(0);
  expect(program.stderr).toBe("");
});

it("the second sample of the front page repairs what is down, and ends after SIGTERM", async () => {
  await using program = new Program("landing/monitor.js", [], withStub);
  await program.printed(/^HEAD https:\/\/example\.org 503\nHEAD https:\/\/example\.com 503\n/);
  await program.printed(/example\.org 200/);
  program.child.kill("SIGTERM");
  expect(await program.exited).toBe(0);
});
