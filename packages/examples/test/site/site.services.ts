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

  it("the pictures of the playground are those for a narrow window at 390 px, and nothing of it scrolls", async () => {
    await using visitor = await open("playground.html", LOOKS[3]);
    const { page } = visitor;
    expect(await page.locator("#lab picture img").count()).toBe(2);
    expect(
      await page.evaluate<number[]>(
        `[...document.querySelectorAll("#lab picture img")].map(({ naturalWidth }) => naturalWidth)`,
      ),
    ).toEqual([360, 360]);
    expect(
      await page.evaluate<string[]>(
        `[...document.querySelectorAll("#lab *")]
          .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth)
          .map(({ outerHTML }) => outerHTML.slice(0, 100))`,
      ),
    ).toEqual([]);
  });

  it("the button that copies code of the playground does not cover it at 390 px", async () => {
    await using visitor = await open("playground.html", LOOKS[3]);
    const { page } = visitor;
    const code = (await page.locator("#lab .code pre").boundingBox()) ?? { y: 0, height: 0 };
    const button = (await page.locator("#lab .code button").boundingBox()) ?? { y: 0 };
    expect(button.y).toBeGreaterThanOrEqual(code.y + code.height);
  });

  it("the options of the playground stand below the delays that they change at 390 px, and its code wraps", async () => {
    await using visitor = await open("playground.html", LOOKS[3]);
    const { page } = visitor;
    const topOf = async (selector: string): Promise<number> =>
      (await page.locator(selector).boundingBox())?.y ?? Number.NaN;
    const tops = [
      await topOf("[aria-labelledby=delays-title]"),
      await topOf("#lab form"),
      await topOf("[aria-labelledby=herd-title]"),
      await topOf("[aria-labelledby=code-title]"),
    ];
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    const code = page.locator("#lab .code pre");
    expect(
      await code.evaluate((pre) => (pre as unknown as { scrollWidth: number }).scrollWidth),
    ).toBe(await code.evaluate((pre) => (pre as unknown as { clientWidth: number }).clientWidth));
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
      "An outbox",
      "Controllers and operators",
      "Commands",
      "Testing",
      "Every crash, in a unit test",
    ]);
    const links = page.locator("#tsd-toolbar-links a");
    expect(await links.allInnerTexts()).toEqual(["Guides", "API", "Playground", "Changelog"]);
  });

  it.each([
    { width: 1_600, columns: 3 },
    { width: 1_280, columns: 3 },
    { width: 900, columns: 2 },
    { width: 390, columns: 1 },
  ])("has rows of $columns cards at $width px, and none that is alone", async (row) => {
    await using visitor = await open("index.html");
    const { page } = visitor;
    await page.setViewportSize({ width: row.width, height: 900 });
    const tops = await page
      .locator(".doors section")
      .evaluateAll((all) => all.map((one) => (one as unknown as { offsetTop: number }).offsetTop));
    const rows = [...new Set(tops)].map((top) => tops.filter((one) => one === top).length);
    expect(rows).toEqual(Array.from({ length: 6 / row.columns }, () => row.columns));
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
    expect(top.slice(0, 6)).toEqual([
      "Start here",
      "Make a call",
      "Run a service",
      "Write an operator",
      "Test it",
      "Look it up",
    ]);
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

  /** What the search box shows for a query: the name of each hit, and its section or what it belongs to. */
  async function hits(page: Page, query: string): Promise<string[]> {
    const box = page.getByRole("combobox", { name: "Search guides and API" });
    await box.fill(query);
    await page.getByRole("option").first().waitFor();
    return await page
      .locator("#tsd-search-results li")
      .evaluateAll((all) =>
        (all as unknown as { querySelector(name: string): { textContent: string } }[]).map((one) =>
          [".name", ".section"].map((part) => one.querySelector(part).textContent).join(" › "),
        ),
      );
  }

  async function openSearch() {
    const visitor = await open("index.html");
    await visitor.page.waitForFunction("typeof holdfastIndex !== 'undefined'");
    await visitor.page.keyboard.press("/");
    return visitor;
  }

  const QUERIES: readonly (readonly [query: string, first: string | RegExp])[] = [
    // A name of the API by itself is that name.
    ["retry", "retry › @holdfast/wait"],
    ["backoff", "Backoff › @holdfast/wait"],
    ["controller", "Controller › @holdfast/controller"],
    ["withTimeout", "withTimeout › @holdfast/wait"],
    ["deadline", "Deadline › @holdfast/wait/limit"],
    // A task is the guide for it.
    ["exponential backoff", /^Backing off › /],
    ["backoff with jitter", "Backing off › Jitter"],
    ["CrashLoopBackOff", /^Backing off › /],
    ["keep connection open", /^Backing off › /],
    ["thundering herd", /^Choosing jitter › /],
    ["retry fetch", /^HTTP with fetch › /],
    ["bash retry", /^Retrying a command › /],
    ["wait for a port", /^Waiting for a service › /],
    ["process manager", /^Running processes › /],
    ["graceful shutdown", /^Graceful shutdown › /],
    ["SIGTERM", /^Graceful shutdown › /],
    ["distributed lock", /^Leader election › /],
    ["leader election", /^Leader election › /],
    ["mutex", /^Leader election › /],
    ["sharding", /^Several replicas › /],
    ["fake clock", /^Testing with the fake clock › /],
    ["jest fake timers", /^Testing with vitest, jest and node:test › /],
    ["node:test", /^Testing with vitest, jest and node:test › /],
    ["transactional outbox", /^An outbox in your service › /],
    ["dead letters", "An outbox in your service › Dead letters"],
    ["kafka", "An outbox in your service › Kafka"],
    ["exactly once", /^An outbox in your service › /],
    ["prisma transaction", "The outbox with your ORM › Prisma"],
    ["kubernetes operator", /^Your first operator › /],
    ["rbac", /^Your first operator › /],
    ["zod", /^Authoring an operator: one schema › /],
    ["read your writes", /^Operating an operator › /],
    ["upgrade CRD", /^Upgrading the CRD › /],
    ["admission webhook", /^Webhooks › /],
    ["p-retry", /^Coming from p-retry, p-queue and cockatiel › /],
    ["poll until", "Retrying and polling › Poll"],
    ["timeout", "Retrying and polling › Timeouts"],
    ["timeout promise", "Retrying and polling › Timeouts"],
    ["abort signal", "Retrying and polling › Aborts and signals"],
    ["cancel", /^Retrying and polling › /],
    ["prometheus metrics", /^Metrics and a dashboard › /],
    ["grafana dashboard", "Metrics and a dashboard › The dashboard"],
    ["reconcile loop", /^The controller › /],
    ["batch work", "The controller › Batch work"],
    ["work queue", /^The work queue › /],
    ["cron at night", /^Scheduled jobs on one of several replicas › /],
    ["circuit breaker", /^Circuit breaker, bulkhead and fallback › /],
    ["rate limit", /^Rate limits › /],
    ["deadlock transaction", /^Retrying database transactions › /],
    ["error code", /^Errors › /],
    // Words of a newcomer, which guides have far apart or not at all.
    ["how to stop retrying after 5 minutes", /^Retrying and polling › /],
    ["sleep with abortcontroller", /^Retrying and polling › /],
    ["add random delay to retries", /^Backing off › /],
    ["websocket reconnect", /^Backing off › /],
    ["mock date now", /^Testing with the fake clock › /],
    ["my test hangs", /^Troubleshooting › /],
    ["run job every day at 3am", /^Scheduled jobs on one of several replicas › /],
    ["share work between pods", /^Several replicas › /],
    ["two pods write at once", /^Leader election › /],
    ["zero downtime deploy", /^Graceful shutdown › /],
    ["what happens on ctrl-c", /^Graceful shutdown › /],
    ["kubernetes informer typescript", /^Your first operator › /],
    ["simulate network failure", /^Finding the crash that breaks your operator › /],
    ["wait until api is up", /^Waiting for a service › /],
    ["debounce events", /^The work queue › /],
    ["poison message", /^An outbox in your service › /],
    ["message sent twice", /^An outbox in your service › /],
    ["webhook signature verify", "An outbox in your service › Webhooks"],
    ["install from source", "Getting started › From a clone"],
    ["compare with kubebuilder", /^Comparison with other packages › /],
  ];

  it("answers each query with the right guide or name first", async () => {
    await using visitor = await openSearch();
    const wrong: string[][] = [];
    for (const [query, first] of QUERIES) {
      const [best = ""] = await hits(visitor.page, query);
      if (typeof first === "string" ? best !== first : !first.test(best)) wrong.push([query, best]);
    }
    expect(wrong).toEqual([]);
  });

  it("shows the section and an excerpt with the words of the query, as text", async () => {
    await using visitor = await openSearch();
    const { page, problems } = visitor;
    await hits(page, "dead letters");
    const first = page.getByRole("option").first();
    expect(await first.locator(".section").textContent()).toBe("Dead letters");
    const words = await first.locator(".excerpt mark").allTextContents();
    expect(words).toContain("letter");
    await page.setViewportSize({ width: 390, height: 900 });
    const width = (what: string): Promise<number> =>
      page.evaluate(`document.querySelector("#tsd-search").${what}`);
    expect(await width("scrollWidth")).toBe(await width("clientWidth"));
    const box = page.getByRole("combobox", { name: "Search guides and API" });
    await box.fill("<zzqq> *( \\");
    await page.getByText('No results for "<zzqq> *( \\"', { exact: true }).waitFor();
    expect((await hits(page, "retry [ ( \\ $&"))[0]).toBeDefined();
    expect(problems).toEqual([]);
  });

  it("opens the first hit with Enter, at its section, or the one that the arrows choose", async () => {
    await using visitor = await openSearch();
    const { page } = visitor;
    await page.keyboard.type("dead letters");
    await page.keyboard.press("Enter");
    await page.waitForURL(/guides\/outbox\.html#dead-letters$/);
    await using other = await openSearch();
    await other.page.keyboard.type("dead letters");
    await other.page.keyboard.press("ArrowDown");
    await other.page.keyboard.press("ArrowDown");
    await other.page.keyboard.press("Enter");
    await other.page.waitForURL(/guides\/outbox-command\.html$/);
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

  it("cuts no name in the list of what is on a page", async () => {
    const longest = readdirSync(site.folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".html"))
      .map((path) => {
        const html = readFileSync(join(site.folder, path), "utf8");
        const list = /tsd-page-navigation[\s\S]*?class="site-menu"/.exec(html)?.[0] ?? "";
        const names = list.replaceAll(/<wbr\s*\/?>/g, "").match(/>[^<]+</g) ?? [];
        return { path, length: Math.max(0, ...names.map((name) => name.length)) };
      })
      .sort((a, b) => b.length - a.length)
      .slice(0, 6);
    expect(longest[0]?.length).toBeGreaterThan(30);
    for (const { path } of longest) {
      await using visitor = await open(path);
      for (const width of [1_100, 1_280, 1_440, 1_600]) {
        await visitor.page.setViewportSize({ width, height: 900 });
        const cut = await visitor.page.evaluate<string[]>(
          `[...document.querySelectorAll(".page-menu .tsd-page-navigation a")]
            .filter((link) => {
              const range = document.createRange();
              range.selectNodeContents(link);
              const menu = document.querySelector(".page-menu").getBoundingClientRect();
              return range.getBoundingClientRect().right > Math.min(menu.right, innerWidth) + 1 || link.scrollWidth > link.clientWidth;
            })
            .map((link) => link.textContent)`,
        );
        expect([path, width, cut]).toEqual([path, width, []]);
      }
    }
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
