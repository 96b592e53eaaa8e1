import type { Page } from "playwright-core";

/** Keeps a picture of a page in the folder of `SCREENSHOTS`, for a person to look at. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined)
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
