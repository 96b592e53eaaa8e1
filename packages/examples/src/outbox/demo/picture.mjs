// Takes the picture of the page that the README shows: a worker was killed, and there are dead letters. Needs Chromium and a build; by hand: node packages/examples/src/outbox/demo/picture.mjs
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const MAIN = fileURLToPath(new URL("../../../dist/outbox/main.js", import.meta.url));
const PICTURE = fileURLToPath(new URL("../../../../../docs/img/outbox.png", import.meta.url));
const { CHROMIUM_PATH: executablePath = "/usr/bin/chromium" } = process.env;

const args = [MAIN, "--kills", "0", "--keep"];
const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
try {
  const url = await pageOf(program.stdout);
  const page = await browser.newPage({ viewport: { width: 1080, height: 680 } });
  page.setDefaultTimeout(120_000);
  await page.goto(url);
  await page.getByText(/^orders placed [2-9]\d\d$/).waitFor();
  await page.getByRole("button", { name: "Repair and replay the dead letters" }).waitFor();
  await page.getByRole("button", { name: "Kill worker-2" }).click();
  await page.getByRole("row", { name: /^worker-2 gone/ }).waitFor();
  await page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
  program.kill("SIGTERM");
  await once(program, "close");
}

/** @param {import("node:stream").Readable} output */
async function pageOf(output) {
  for await (const line of createInterface(output)) {
    const [, url] = /the page: (\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      output.resume();
      return url;
    }
  }
  throw new Error("the program does not say where its page is");
}
