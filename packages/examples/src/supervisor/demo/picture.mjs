// Takes the picture of the page that the README shows: three replicas, a while after the leader was
// killed. Needs Chromium and a build; by hand: node packages/examples/src/supervisor/demo/picture.mjs
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const MAIN = fileURLToPath(new URL("../../../dist/supervisor/main.js", import.meta.url));
const PICTURE = fileURLToPath(new URL("../../../../../docs/img/supervisor.png", import.meta.url));
const { CHROMIUM_PATH: executablePath = "/usr/bin/chromium" } = process.env;

const program = spawn(process.execPath, [MAIN, "--replicas", "3", "--forever"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
try {
  const url = await pageOf(program.stdout);
  const page = await browser.newPage({ viewport: { width: 1080, height: 600 } });
  await page.goto(url);
  const row = page.getByRole("row", { name: /^crasher/ });
  await row.locator(".over").nth(1).waitFor({ state: "attached" });
  const state = await (await fetch(`${url}state`)).json();
  const leader = state.replicas.find(({ role }) => role === "leader");
  process.kill(leader.pid, "SIGKILL");
  await page.locator(".leader", { hasText: "leads", hasNotText: leader.identity }).waitFor();
  await row.locator(".over").nth(2).waitFor({ state: "attached" });
  await row.getByText("starts in 5").waitFor();
  await page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
  program.kill("SIGTERM");
  await once(program, "close");
}

/** @param {import("node:stream").Readable} output */
async function pageOf(output) {
  for await (const line of createInterface(output)) {
    const [, url] = /its page: (\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the program does not say where its page is");
}
