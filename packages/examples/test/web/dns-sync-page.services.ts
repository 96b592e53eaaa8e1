import { expect, it } from "vitest";
import { Program } from "../program.ts";
import { LOOKS, PATIENCE, useBrowser, visit } from "./browser.ts";
import { shoot } from "./shoot.ts";

// The page of `npm run dns-sync`, in a real browser.

useBrowser();

it.each(LOOKS.flatMap((look) => [undefined, 8].map((shards) => ({ ...look, shards }))))(
  "shows a hand-over after kill -9 with $shards slots at $width px, $colorScheme",
  async ({ width, colorScheme, shards }) => {
    const slots = shards === undefined ? [] : ["--shards", `${shards}`];
    await using program = new Program("dns-sync/main.js", ["--records", "8", ...slots]);
    const [, url = ""] = await program.printed(/the page: (\S+)/);
    await using visitor = await visit(url, { viewport: { width, height: 900 }, colorScheme });
    const { page, problems } = visitor;
    const lease = page.locator("#leases li").first();
    const holder = lease.locator("h3 .key");
    await holder.getByText(/^replica-\d$/).waitFor();
    await page.getByText("8 of 8 in sync", { exact: false }).waitFor();
    const leader = (await holder.textContent()) ?? "";
    const [other = ""] = ["replica-1", "replica-2", "replica-3"].filter((name) => name !== leader);
    await page.getByRole("button", { name: `Kill -9 ${leader}` }).click();
    // It stays focused while the rows around it change.
    await page.getByRole("button", { name: `Kill -9 ${other}` }).focus();
    await holder.getByText(`${leader} is gone`).waitFor();
    await lease.getByText(/^hand-over: \d+ ms$/).waitFor();
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe(`Kill -9 ${other}`);
    const ms = /\d+/.exec((await lease.locator(".hand-over").textContent()) ?? "")?.[0];
    const taken = page.getByText(
      new RegExp(`^[\\d:.]{12} dns-sync.*: replica-\\d takes over after ${ms} ms$`),
    );
    await taken.first().waitFor();
    const looks = await lease
      .locator(".strip rect")
      .evaluateAll((rects) =>
        rects.map((rect) => (rect as { getAttribute(name: string): string }).getAttribute("class")),
      );
    expect(looks.slice(-3)).toEqual([
      leader.replace("-", ""),
      "free",
      expect.stringMatching(/^replica\d$/),
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    await shoot(page, `dns-${shards ?? 1}-${colorScheme}-${width}`);
    expect(problems).toEqual([]);
  },
  4 * PATIENCE,
);
