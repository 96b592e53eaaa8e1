import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Program } from "../../program.ts";
import { PATIENCE, useBrowser, visit } from "../../web/browser.ts";

// The whole program: three processes, an API double, a provider, a page. The tests wait for conditions only.
const PATIENT = { timeout: 8 * PATIENCE };

const AFTER_QUIET = /after quiet/;

useBrowser();

let program: Program;
let url = "";

beforeAll(async () => {
  program = new Program("dns-sync/main.js", ["--records", "20"]);
  [, url = ""] = await program.printed(/the page: (\S+)/);
}, PATIENCE);

afterAll(async () => {
  program.child.kill("SIGINT");
  expect(await program.exited).toBe(0);
  expect(program.stdout).toMatch(/every child stops within 25 s +holds +\d+ stops/);
}, PATIENCE);

const invariants = (page: Page): Locator =>
  page.getByRole("list", { name: "Invariants" }).getByRole("listitem");

/** How often each of the three invariants was checked that speak of quiet. */
async function checksAfterQuiet(page: Page): Promise<readonly number[]> {
  const texts = await invariants(page).filter({ hasText: AFTER_QUIET }).allInnerTexts();
  return texts.map((text) => Number(/([\d,]+) checks/.exec(text)?.[1]?.replace(",", "")));
}

/** Waits until records, caches and statuses were found equal once more, and nothing is broken. */
async function settled(page: Page, before: readonly number[]): Promise<void> {
  const counts = async () => await checksAfterQuiet(page);
  await expect
    .poll(async () => (await counts()).every((count, index) => count > (before[index] ?? 0)), {
      timeout: 5 * PATIENCE,
    })
    .toBe(true);
  expect(await invariants(page).filter({ hasText: "broken" }).allInnerTexts()).toEqual([]);
  const drift = page.locator(".drift .now");
  await expect.poll(async () => await drift.textContent(), { timeout: PATIENCE }).toBe("0");
}

const logged = async (page: Page, text: RegExp): Promise<void> =>
  await page.locator(".log li").filter({ hasText: text }).first().waitFor();

async function tokenOfLeader(page: Page): Promise<number> {
  const leader = page.getByRole("row").filter({ hasText: "leads" });
  await leader.waitFor();
  return Number(await leader.getByRole("cell").nth(2).textContent());
}

describe("the page of dns-sync", () => {
  it("shows one leader of three replicas, the records and eight invariants", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page, problems } = visitor;
    await settled(page, []);
    expect(await page.getByRole("table", { name: "Replicas" }).getByRole("row").count()).toBe(4);
    expect(await page.getByRole("row").filter({ hasText: "leads" }).count()).toBe(1);
    expect(await invariants(page).count()).toBe(8);
    await page.getByText("records 25").waitFor(); // and five that test bad input
    await page.getByText("at the provider 21").waitFor();
    await page.getByRole("img", { name: /^Drift in the last minute: now 0/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it.each([
    {
      name: "Compact",
      says: "The API server forgets its history.",
      follows: /forgets its history/,
    },
    {
      name: "Provider outage",
      says: "The provider is out of order for 6 s.",
      follows: /outage, 6\.0 s/,
    },
    { name: "5,000 edits", says: "5,000 edits begin.", follows: /5,000 edits/ },
    {
      name: "Drift",
      says: "20 records change at the provider.",
      follows: /somebody changes 20 records/,
    },
    {
      name: "Stop the API",
      says: "The API server is away for 8 s.",
      follows: /is back after 8\.0 s/,
    },
  ])(
    "$name: says so, and every invariant holds when it is quiet again",
    PATIENT,
    async (button) => {
      await using visitor = await visit(url);
      const { page, problems } = visitor;
      await page.getByRole("button", { name: button.name }).waitFor();
      const before = await checksAfterQuiet(page);
      await page.getByRole("button", { name: button.name }).click();
      await page.locator(".answer").filter({ hasText: button.says }).waitFor();
      await logged(page, button.follows);
      await settled(page, before);
      expect(problems).toEqual([]);
    },
  );

  it(
    "Kill the leader: another one leads with a higher token, and every invariant holds",
    PATIENT,
    async () => {
      await using visitor = await visit(url);
      const { page, problems } = visitor;
      const token = await tokenOfLeader(page);
      const before = await checksAfterQuiet(page);
      await page.getByRole("button", { name: "Kill the leader" }).click();
      await page.locator(".answer").filter({ hasText: "The leader gets SIGKILL." }).waitFor();
      await logged(page, /leads, and is killed with SIGKILL/);
      await expect
        .poll(async () => await tokenOfLeader(page), { timeout: PATIENCE })
        .toBeGreaterThan(token);
      await settled(page, before);
      expect(problems).toEqual([]);
    },
  );

  it("shows the naive lane dead, after the API server was away", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page } = visitor;
    const lane = page.locator(".naive");
    await page.getByRole("button", { name: "5,000 edits" }).click(); // which it does not hear of
    await lane.filter({ hasText: "hears nothing of the server any more" }).waitFor();
    expect(await lane.getAttribute("data-state")).toBe("dead");
  });

  it("says why a button has no effect", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page } = visitor;
    await page.getByRole("button", { name: "Provider outage" }).click();
    await page.getByRole("button", { name: "Provider outage" }).click();
    await page.locator(".answer").filter({ hasText: "That is under way already." }).waitFor();
    expect(await page.locator(".answer").getAttribute("data-state")).toBe("refused");
  });

  it("fits windows of all widths, light and dark", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page } = visitor;
    await page.getByRole("table", { name: "Replicas" }).waitFor();
    for (const { width, colorScheme } of [
      { width: 390, colorScheme: "light" },
      { width: 800, colorScheme: "dark" },
      { width: 1_280, colorScheme: "light" },
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const wide = "document.documentElement.scrollWidth";
      await expect.poll(() => page.evaluate(wide), { timeout: PATIENCE }).toBe(width);
    }
  });
});
