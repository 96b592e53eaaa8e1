import { expectOk, retry } from "@holdfast/wait";

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

try {
  const text = await retry(
    async ({ signal }) => {
      const reply = await fetch("https://example.org", { signal });
      return (await expectOk(reply)).text();
    },
    { attemptTimeout: 10_000, retries: 5, signal: stop.signal },
  );
  console.log(text);
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
