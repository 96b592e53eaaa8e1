import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { CHROMIUM_FLAGS, chromiumProgram } from "./chromium.ts";

/** How long a condition may take, in milliseconds, on a machine that is busy. */
export const PATIENCE = 120_000;

/** Wide and narrow, light and dark. */
export const LOOKS = [
  { width: 1_280, colorScheme: "light" },
  { width: 1_280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;

let browser: Browser;

/** Keeps one browser for the tests of the file that calls this. */
export function useBrowser(): void {
  beforeAll(async () => {
    const executablePath = chromiumProgram();
    const args = [...CHROMIUM_FLAGS];
    browser = await chromium.launch({ executablePath, args, timeout: PATIENCE });
  }, 2 * PATIENCE);
  afterAll(() => browser?.close());
}

/** A page in a profile of its own, and all that it complains about. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
}

/**
 * Draws once a second, which takes less of the machine, unless `options` say otherwise.
 *
 * @param time - starts the time of the page at this instant, for `page.clock`; the real time by default
 */
export async function visit(
  url: string,
  options: BrowserContextOptions = {},
  time?: number,
): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  if (time !== undefined) await page.clock.install({ time });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}
