import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOOKS, PATIENCE, useBrowser, visit } from "../web/browser.ts";
import { buildSite, type Site } from "./build-site.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let site: Site;

useBrowser();
beforeAll(async () => {
  site = await buildSite();
}, 600_000);
afterAll(() => site[Symbol.dispose]());

const PAGES = [
  "index.html",
  "modules.html",
  "guides.html",
  "modules/_holdfast_wait.html",
  "functions/_holdfast_wait.retry.html",
  "classes/_holdfast_controller.Controller.html",
  "guides/coming-from-go-wait.html",
  "playground.html",
];

/** Opens a page, and waits until its script has filled the sidebar. */
async function open(path: string, look: (typeof LOOKS)[number] = LOOKS[0]) {
  const { width, colorScheme } = look;
  const visitor = await visit(site.url(path), { colorScheme, viewport: { width, height: 900 } });
  await visitor.page.locator("#tsd-nav-container a").first().waitFor({ state: "attached" });
  if (path.includes("playground")) await herdDrawn(visitor.page);
  return visitor;
}

async function herdDrawn(page: Page): Promise<void> {
  await page.locator("section[aria-busy=false] dl").waitFor();
}

interface AxeResult {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What WCAG 2.2 AA objects to, as far as a program can tell. */
async function objections(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  const violations = await page.evaluate<AxeResult[]>(
    `axe.run({ preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((found) => found.violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .slice(0, 5)
      .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** No horizontal scroll and WCAG AA, wide and narrow, light and dark. */
async function expectLooks(page: Page): Promise<void> {
  for (const { width, colorScheme } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const look = `${width} px, ${colorScheme}`;
    expect(await page.evaluate("document.documentElement.scrollWidth"), look).toBe(width);
    expect(await objections(page), look).toEqual([]);
  }
}

describe("the site", { timeout: 4 * PATIENCE }, () => {
  it.each(PAGES)(
    "%s: no error, no request, no horizontal scroll, WCAG AA, wide and narrow, light and dark",
    async (path) => {
      await using visitor = await open(path);
      const { page, problems } = visitor;
      await expectLooks(page);
      const loaded = await page.evaluate<string[]>(
        `performance.getEntriesByType("resource").map(({ name }) => name)`,
      );
      expect(loaded.filter((url) => !/^(file|data|blob):/.test(url))).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it("the pictures of a guide keep a readable size at 390 px, and scroll", async () => {
    await using visitor = await open("guides/backing-off.html", LOOKS[3]);
    const { page } = visitor;
    const { width } = (await page.locator("p > img").first().boundingBox()) ?? { width: 0 };
    expect(width).toBeGreaterThanOrEqual(500);
    await expectLooks(page);
  });

  it("the button that copies code of the playground does not cover it at 390 px", async () => {
    await using visitor = await open("playground.html", LOOKS[3]);
    const { page } = visitor;
    const code = (await page.locator("#lab .code pre").boundingBox()) ?? { y: 0, height: 0 };
    const button = (await page.locator("#lab .code button").boundingBox()) ?? { y: 0 };
    expect(button.y).toBeGreaterThanOrEqual(code.y + code.height);
  });

  it.each(["index.html", "guides/backing-off.html", "playground.html"])(
    "Tab reaches everything in %s",
    async (path) => {
      await using visitor = await open(path);
      const { page } = visitor;
      await page.evaluate(MARK_REACHABLE);
      const wanted = await page.evaluate<number>("reachable.length");
      for (let tabs = 0; tabs < wanted + 5; tabs++) {
        await page.keyboard.press("Tab");
        await page.evaluate("reached.add(document.activeElement)");
      }
      const missed = await page.evaluate<string[]>(
        "reachable.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 120))",
      );
      expect(wanted).toBeGreaterThan(10);
      expect(missed).toEqual([]);
    },
  );

  it("opens and closes its menu with the keyboard in a narrow window", async () => {
    await using visitor = await open("guides/backing-off.html", LOOKS[2]);
    const { page } = visitor;
    const menu = page.getByRole("button", { name: "Menu" });
    const link = page.locator("#sidebar").getByRole("link", { name: "Playground" }).first();
    expect(await link.isVisible()).toBe(false);
    await menu.focus();
    await page.keyboard.press("Enter");
    await link.waitFor();
    expect(await menu.getAttribute("aria-expanded")).toBe("true");
    expect(
      await page.evaluate("document.getElementById('sidebar').contains(document.activeElement)"),
    ).toBe(true);
    await page.keyboard.press("Escape");
    await link.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.id")).toBe("menu");
  });

  it("shows the first screen: sentence, commands, picture, snippets, doors", async () => {
    await using visitor = await open("index.html");
    const { page } = visitor;
    expect(await page.locator("h1").textContent()).toBe("Holdfast");
    expect(await page.locator("pre").first().textContent()).toContain("npm start");
    expect(
      await page
        .locator(".hero img")
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBe(380);
    expect(await page.locator(".snippets h2").allInnerTexts()).toHaveLength(2);
    expect(await page.locator(".doors h2").allInnerTexts()).toEqual([
      "Retry and poll",
      "Controllers and operators",
      "Testing",
      "Every crash, in a unit test",
      "Messages that are not lost",
    ]);
    const links = page.locator("#tsd-toolbar-links a");
    expect(await links.allInnerTexts()).toEqual(["Guides", "API", "Playground", "Changelog"]);
  });

  it("leads from the first screen to the guide for newcomers", async () => {
    await using visitor = await open("index.html");
    const { page } = visitor;
    await page.locator(".hero").getByRole("link", { name: "Get started" }).click();
    await page.waitForURL(/guides\/getting-started\.html$/);
    expect(await page.locator("h1").textContent()).toContain("Getting started");
  });

  it("shows the options of a function as a table on its page", async () => {
    await using visitor = await open("functions/_holdfast_wait.retry.html");
    const table = visitor.page.locator(".options table");
    expect(await table.locator("thead th").allInnerTexts()).toEqual([
      "Option",
      "Type",
      "Default",
      "Description",
    ]);
    const row = (name: string) =>
      table
        .getByRole("row")
        .filter({ has: visitor.page.getByRole("rowheader", { name, exact: true }) });
    expect(await row("attemptTimeout").getByRole("cell").allInnerTexts()).toEqual([
      "number",
      "Infinity",
      expect.stringMatching(/^Time limit of each attempt, in milliseconds\./),
    ]);
    expect(await table.getByRole("rowheader").allInnerTexts()).toEqual([
      "attemptTimeout",
      "backoff",
      "budget",
      "clock",
      "delay",
      "maxElapsed",
      "maxRetryAfter",
      "onRetry",
      "retries",
      "shouldRetry",
      "signal",
      "timeout",
    ]);
  });

  it("has a sidebar of guides in reading order, then packages, at most three levels deep", async () => {
    await using visitor = await open("guides/backing-off.html");
    const { page } = visitor;
    const top = await page.locator("#tsd-nav-container > li > details > summary").allInnerTexts();
    expect(top.slice(0, 3)).toEqual(["Start here", "Retrying and polling", "Testing"]);
    expect(top.slice(-7)).toEqual([
      "@holdfast/wait",
      "@holdfast/clock",
      "@holdfast/controller",
      "@holdfast/explore",
      "@holdfast/outbox",
      "@holdfast/kubernetes",
      "@holdfast/fake-apiserver",
    ]);
    expect(await page.locator("#tsd-nav-container li li li").count()).toBeGreaterThan(100);
    expect(await page.locator("#tsd-nav-container li li li li").count()).toBe(0);
  });

  it("has room for the longest name in the sidebar", async () => {
    await using visitor = await open("functions/_holdfast_wait.retry.html");
    await visitor.page.evaluate(
      "for (const one of document.querySelectorAll('#tsd-nav-container details')) one.open = true",
    );
    const wrapped = await visitor.page.evaluate<string[]>(
      `[...document.querySelectorAll("#tsd-nav-container a:has(.tsd-kind-icon)")]
        .filter((link) => link.querySelector("span")?.getClientRects().length > 1 || link.offsetHeight > 34)
        .map((link) => link.textContent)`,
    );
    expect(wrapped).toEqual([]);
  });

  it("links each guide to the previous and the next", async () => {
    await using visitor = await open("guides/retrying-and-polling.html");
    const { page } = visitor;
    const pager = page.getByRole("navigation", { name: "Previous and next" });
    await pager.getByRole("link", { name: /^Next/ }).click();
    await page.waitForURL(/guides\/(?!retrying-and-polling)/);
    await pager.getByRole("link", { name: "Previous Retrying and polling" }).click();
    await page.waitForURL(/retrying-and-polling/);
  });

  it.each([
    { query: "retry", first: "@holdfast/wait.retry" },
    { query: "backoff", first: "@holdfast/wait.Backoff" },
    { query: "controller", first: "@holdfast/controller.Controller" },
    { query: "withTimeout", first: "@holdfast/wait.withTimeout" },
    { query: "SIGTERM", first: /^(?!@holdfast)/ },
    { query: "wait for a port", first: "Waitingforaservice" },
    { query: "deadline", first: "@holdfast/wait.Deadline" },
    { query: "timeout", first: "Retryingandpolling" },
    { query: "node:test", first: "Testingwithvitest,jestandnode:test" },
  ])("finds $first for $query", async ({ query, first }) => {
    await using visitor = await open("index.html");
    const { page } = visitor;
    await page.waitForFunction("window.searchData !== undefined");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: "Search guides and API" }).fill(query);
    await page.getByRole("option").first().waitFor();
    const [best = ""] = await page
      .getByRole("option")
      .evaluateAll((found) =>
        found.map((one) => (one as { textContent: string }).textContent.replaceAll(/\s/g, "")),
      );
    if (typeof first === "string") expect(best).toBe(first);
    else expect(best).toMatch(first);
  });

  const TASKS: readonly (readonly [query: string, guide: string])[] = [
    ["exponential backoff", "Backing off"],
    ["thundering herd", "Choosing jitter"],
    ["retry fetch", "HTTP with fetch"],
    ["graceful shutdown", "Graceful shutdown"],
    ["distributed lock", "Leader election"],
    ["leader election", "Leader election"],
    ["fake timers", "Testing with the fake clock"],
    ["jest fake timers", "Testing with vitest, jest and node:test"],
    ["transactional outbox", "An outbox in your service"],
    ["dead letter", "An outbox in your service"],
    ["exactly once", "An outbox in your service"],
    ["kubernetes operator", "Your first operator"],
    ["read your writes", "Operating an operator"],
    ["rbac", "Your first operator"],
    ["p-retry", "Coming from p-retry, p-queue and cockatiel"],
    ["poll until", "Retrying and polling"],
    ["timeout promise", "Retrying and polling"],
    ["prometheus metrics", "Metrics and a dashboard"],
    ["CrashLoopBackOff", "Backing off"],
    ["reconcile loop", "The controller"],
    ["cron job", "Scheduled jobs on one of several replicas"],
    ["circuit breaker", "Circuit breaker, bulkhead and fallback"],
    ["rate limit", "Rate limits"],
    ["deadlock transaction", "Retrying database transactions"],
    ["grafana dashboard", "Metrics and a dashboard"],
    ["error code", "Errors"],
    ["cron at night", "Scheduled jobs on one of several replicas"],
    ["backoff with jitter", "Choosing jitter"],
    ["cancel", "Retrying and polling"],
    ["batch work", "The controller"],
    ["dead letters", "The outbox from a terminal"],
    ["upgrade CRD", "Upgrading the CRD"],
    ["sharding", "Several replicas"],
    ["mutex", "Leader election"],
  ];

  it("answers task questions with the right guide among the first three", async () => {
    await using visitor = await open("index.html");
    const { page } = visitor;
    await page.waitForFunction("window.searchData !== undefined");
    await page.keyboard.press("/");
    const box = page.getByRole("combobox", { name: "Search guides and API" });
    const missed: string[] = [];
    for (const [query, guide] of TASKS) {
      await box.fill("");
      const found = page.getByRole("option");
      await found.first().waitFor({ state: "detached" });
      await box.fill(query);
      await found.first().waitFor();
      const first = (await found.allInnerTexts()).slice(0, 3);
      if (!first.some((text) => text.trim() === guide)) missed.push(query);
    }
    expect(missed).toEqual([]);
  });

  it("gives each page a title and a description of its own", () => {
    const heads = readdirSync(site.folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".html"))
      .map((path) => readFileSync(join(site.folder, path), "utf8"))
      .map((html) => [
        /<title>(.+?)<\/title>/.exec(html)?.[1] ?? "",
        /<meta name="description" content="(.+?)"/.exec(html)?.[1] ?? "",
        /<meta property="og:title" content="(.+?)"/.exec(html)?.[1] ?? "",
      ]);
    for (const [title, description, preview] of heads) {
      expect(title).not.toBe("");
      expect(description).not.toBe("");
      expect(preview).toBe(title);
    }
    const titles = heads.map(([title]) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it("lists every guide with its description", async () => {
    await using visitor = await open("guides.html");
    const entries = visitor.page.locator(".guides dt");
    const descriptions = await visitor.page.locator(".guides dd").allInnerTexts();
    expect(await entries.count()).toBeGreaterThan(20);
    expect(descriptions).toHaveLength(await entries.count());
    expect(descriptions.filter((text) => text === "")).toEqual([]);
  });

  it("says in the list of the API what each entry point is for", async () => {
    await using visitor = await open("modules.html");
    const lines = await visitor.page.locator("dd.tsd-member-summary").allInnerTexts();
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((text) => text.trim() === "")).toEqual([]);
  });

  it("shows code of 100 columns without scrolling at 1600 px, and what is on the page from 1100 px", async () => {
    await using visitor = await open("guides/retrying-and-polling.html");
    const contents = visitor.page.locator(".page-menu .tsd-page-navigation");
    await visitor.page.setViewportSize({ width: 1_100, height: 900 });
    expect(await contents.isVisible()).toBe(true);
    const text = await visitor.page.locator(".col-content").boundingBox();
    const menu = await contents.boundingBox();
    expect(menu?.x).toBeGreaterThanOrEqual((text?.x ?? 0) + (text?.width ?? 0));
    await visitor.page.setViewportSize({ width: 1_600, height: 900 });
    const clipped = await visitor.page.evaluate<string[]>(
      `[...document.querySelectorAll("pre")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`,
    );
    expect(clipped).toEqual([]);
  });

  it("names no repository that is not configured", () => {
    const pages = readdirSync(site.folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".html"),
    );
    const naming = pages.filter((path) =>
      /github\.com\/holdfast|Defined in/.test(readFileSync(join(site.folder, path), "utf8")),
    );
    expect(pages.length).toBeGreaterThan(400);
    expect(naming).toEqual([]);
  });
});

/** Collects what Tab has to reach: one radio button or one part of the page is like another. */
const MARK_REACHABLE = `
  globalThis.reached = new Set();
  globalThis.reachable = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled);
`;

describe("the playground", { timeout: 4 * PATIENCE }, () => {
  const pictures = (page: Page) =>
    page.locator("#lab img").evaluateAll((all) => all.map((one) => (one as { src: string }).src));

  it("draws the same pictures from its address", async () => {
    await using first = await open("playground.html");
    await first.page.getByLabel("Jitter", { exact: true }).selectOption("full");
    await first.page.getByLabel("First delay", { exact: true }).fill("250");
    await first.page.getByLabel("Seed").fill("42");
    await first.page.getByLabel("Clients", { exact: true }).fill("300");
    await herdDrawn(first.page);
    const drawn = await pictures(first.page);
    const address = first.page.url();
    expect(address).toContain("jitter=full");
    await using second = await visit(address);
    await herdDrawn(second.page);
    expect(drawn).toHaveLength(2);
    expect(await pictures(second.page)).toEqual(drawn);
    await using other = await visit(address.replace("seed=42", "seed=43"));
    await herdDrawn(other.page);
    const others = await pictures(other.page);
    expect(others[0]).not.toBe(drawn[0]);
    expect(others[1]).not.toBe(drawn[1]);
  });

  it("follows its sliders from the keyboard", async () => {
    await using visitor = await open("playground.html");
    const { page } = visitor;
    const before = await pictures(page);
    await page.getByLabel("First delay, slider").focus();
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => page.getByLabel("First delay", { exact: true }).inputValue())
      .not.toBe("100");
    expect((await pictures(page))[0]).not.toBe(before[0]);
    await page.getByLabel("Longest delay, slider").focus();
    await page.keyboard.press("End");
    await expect
      .poll(() => page.getByLabel("Longest delay", { exact: true }).inputValue())
      .toBe("Infinity");
    expect(await page.locator("#lab pre").textContent()).not.toContain("cap");
  });

  it("shows a preset as code, as numbers and in its fields", async () => {
    await using visitor = await open("playground.html");
    const { page } = visitor;
    await page.getByLabel("Preset").selectOption("CrashLoopBackOff of Kubernetes");
    expect(await page.locator("#lab pre").textContent()).toBe(
      'import { retry } from "@holdfast/wait";\n\nconst backoff = { duration: 10_000, factor: 2, cap: 300_000 };\nawait retry(call, { backoff });',
    );
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("rowheader", { name: "6", exact: true }) });
    expect(await row.getByRole("cell").allInnerTexts()).toEqual([
      "5m00s",
      "5m00s",
      "5m00s",
      "10m10s",
    ]);
    expect(await page.getByLabel("First delay", { exact: true }).inputValue()).toBe("10000");
  });

  it("shows the mistake in a field, and keeps the last pictures", async () => {
    await using visitor = await open("playground.html");
    const { page, problems } = visitor;
    const before = await pictures(page);
    const field = page.getByLabel("Growth", { exact: true });
    await field.fill("fast");
    const message = 'factor must be a number, not "fast"';
    await page.getByRole("alert").getByText(message).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator("#factor-note").textContent()).toBe(message);
    expect((await pictures(page))[0]).toBe(before[0]);
    await field.fill("3");
    await page.getByRole("alert").waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
  });

  it("shows the mistake in a link", async () => {
    await using visitor = await visit(
      site.url("playground.html#strategy=magic&duration=-5&size=3&outage=<img onerror=alert(1)>"),
    );
    const { page, problems } = visitor;
    const alert = page.getByRole("alert");
    await alert.waitFor();
    const text = await alert.textContent();
    expect(text).toContain("The link has an unknown setting: size");
    expect(text).toContain("strategy must be one of exponential, constant, decorrelated");
    expect(text).toContain('outage must be a number, not "<img onerror=alert(1)>"');
    expect(await page.locator("#lab img").count()).toBe(0);
    await expectLooks(page);
    expect(problems).toEqual([]);
  });

  it("reports when there are too many calls to simulate", async () => {
    await using visitor = await visit(
      site.url("playground.html#strategy=constant&duration=1&jitter=none&outage=60"),
    );
    await visitor.page.getByText("Not simulated: more than 150000 calls").waitFor();
    expect(visitor.problems).toEqual([]);
  });
});
