import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Program } from "../../program.ts";
import { PATIENCE, useBrowser, visit } from "../../web/browser.ts";

// Runs the whole program. The tests wait for conditions, never for fixed times.
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

/** Number of checks of each of the three invariants after quiet. */
async function checksAfterQuiet(page: Page): Promise<readonly number[]> {
  const texts = await invariants(page).filter({ hasText: AFTER_QUIET }).allInnerTexts();
  return texts.map((text) => Number(/([\d,]+) checks/.exec(text)?.[1]?.replace(",", "")));
}

/** Waits for one more successful check of records, caches and statuses, and for a drift of 0. */
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
  const leader = page.getByRole("row").filter({ hasText: /leader/ });
  await leader.waitFor();
  return Number(await leader.getByRole("cell").nth(2).textContent());
}

describe("the page of dns-sync", () => {
  it("shows one leader of three replicas, the records and eight invariants", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page, problems } = visitor;
    await settled(page, []);
    expect(await page.getByRole("table", { name: "Replicas" }).getByRole("row").count()).toBe(4);
    expect(
      await page
        .getByRole("row")
        .filter({ hasText: /leader/ })
        .count(),
    ).toBe(1);
    expect(await invariants(page).count()).toBe(8);
    await page.getByText("records in Kubernetes 25").waitFor(); // 20, and five with bad input or a shared name
    await page.getByText("at the provider 21").waitFor();
    await page.getByRole("img", { name: /^Drift in the last minute: now 0/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it.each([
    {
      name: "Compact",
      says: "The API server compacts its history.",
      follows: /compacted its history/,
    },
    {
      name: "Provider outage",
      says: "The provider answers 503 for 6 s.",
      follows: /outage, 6\.0 s/,
    },
    { name: "5,000 edits", says: "5,000 edits started.", follows: /5,000 edits/ },
    {
      name: "Drift",
      says: "20 records change at the provider.",
      follows: /20 records changed without the operator/,
    },
    {
      name: "Stop the API",
      says: "The API server is down for 8 s.",
      follows: /restarted after 8\.0 s/,
    },
  ])("$name: shows the fault, and every invariant holds after quiet", PATIENT, async (button) => {
    await using visitor = await visit(url);
    const { page, problems } = visitor;
    await page.getByRole("button", { name: button.name }).waitFor();
    const before = await checksAfterQuiet(page);
    await page.getByRole("button", { name: button.name }).click();
    await page.locator(".result").filter({ hasText: button.says }).waitFor();
    await logged(page, button.follows);
    await settled(page, before);
    expect(problems).toEqual([]);
  });

  it(
    "Kill the leader: another replica leads with a higher token, and every invariant holds",
    PATIENT,
    async () => {
      await using visitor = await visit(url);
      const { page, problems } = visitor;
      const token = await tokenOfLeader(page);
      const before = await checksAfterQuiet(page);
      await page.getByRole("button", { name: "Kill the leader" }).click();
      await page.locator(".result").filter({ hasText: "The leader gets SIGKILL." }).waitFor();
      await logged(page, /leader killed with SIGKILL/);
      await expect
        .poll(async () => await tokenOfLeader(page), { timeout: PATIENCE })
        .toBeGreaterThan(token);
      await settled(page, before);
      expect(problems).toEqual([]);
    },
  );

  it("shows the baseline as dead after a restart of the API server", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page } = visitor;
    const baseline = page.locator(".baseline");
    await page.getByRole("button", { name: "5,000 edits" }).click(); // events missed by the baseline
    await baseline.filter({ hasText: "stopped receiving events" }).waitFor();
    expect(await baseline.getAttribute("data-state")).toBe("dead");
  });

  it("shows the reason for a refused click", PATIENT, async () => {
    await using visitor = await visit(url);
    const { page } = visitor;
    await page.getByRole("button", { name: "Provider outage" }).click();
    await page.getByRole("button", { name: "Provider outage" }).click();
    await page.locator(".result").filter({ hasText: "Already in progress." }).waitFor();
    expect(await page.locator(".result").getAttribute("data-state")).toBe("refused");
  });

  it("fits windows of three widths, light and dark", PATIENT, async () => {
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
