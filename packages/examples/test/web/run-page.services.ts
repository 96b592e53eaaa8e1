import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { LOOKS, PATIENCE, useBrowser, visit } from "./browser.ts";
import { shoot } from "./shoot.ts";

// The page of `holdfast run`, in a real browser.

useBrowser();

const BIN = fileURLToPath(new URL("../../../cli/dist/main.js", import.meta.url));

const MANIFEST = `
grace: 1s
backoff: { duration: 1s, factor: 60, cap: 2m, jitter: 0, resetAfter: 5m } # the second delay outlasts a slow browser
processes:
  web: { shell: 'echo "<img src=x onerror=alert(1)>"; exec sleep 1000' }
  crasher: { shell: 'echo "cannot open config.json" >&2; exit 1' }
  job: { shell: 'echo done', restart: Never }
`;

/** What a program prints, once it matches. */
async function printed(args: readonly string[], env: NodeJS.ProcessEnv, pattern: RegExp) {
  const child = spawn(process.execPath, [BIN, "run", ...args], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill());
  return await new Promise<string>((resolve) => {
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        const [, found] = pattern.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
  });
}

/** The page for strangers, and that of its user. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), "run-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "demo.yaml");
  writeFileSync(file, MANIFEST);
  const env = { XDG_RUNTIME_DIR: folder };
  const open = await printed([file], env, /its page: (\S+)\n/);
  return { open, own: await printed(["page"], env, /^(\S+)\n/) };
}

it.each(LOOKS)(
  "shows and controls processes at $width px, $colorScheme",
  async ({ width, colorScheme }) => {
    const { open, own } = await start();
    await using visitor = await visit(own, { viewport: { width, height: 900 }, colorScheme });
    const { page, problems } = visitor;
    const web = page.getByRole("region", { name: "web", exact: true });
    const crasher = page.getByRole("region", { name: "crasher", exact: true });
    await web.getByText("<img src=x onerror=alert(1)>", { exact: true }).waitFor();
    // The second delay lasts, and fills up.
    await crasher.getByText(/starts in \w+; delay 1m\w*, at most 2m\w*/).waitFor();
    const filled = async (): Promise<number> =>
      Number(await crasher.locator(".delays .waiting").last().getAttribute("height"));
    const growth = async (): Promise<void> => {
      const before = await filled();
      await expect.poll(filled, { timeout: PATIENCE }).toBeGreaterThan(before);
    };
    await growth();
    expect(await web.locator(".strip rect").last().getAttribute("class")).toBe("running");
    expect(await crasher.locator(".strip .waiting").count()).toBeGreaterThanOrEqual(2);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    await shoot(page, `run-${colorScheme}-${width}`);

    // The button keeps its focus while all around it changes.
    await web.getByRole("button", { name: "Stop web" }).focus();
    await growth();
    await page.keyboard.press("Enter");
    await web.getByText("Stopped", { exact: true }).waitFor();
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Stop web");
    await web.getByRole("button", { name: "Start web" }).click();
    await web.getByText("Running", { exact: true }).waitFor();
    await web.getByRole("button", { name: "Restart web" }).click();
    await page.getByText("Terminating, asked to restart", { exact: false }).waitFor();
    expect(await web.locator(".strip .down").count()).toBeGreaterThan(0);

    await using stranger = await visit(open);
    await stranger.page.getByRole("status").filter({ hasText: "live" }).waitFor();
    expect(await stranger.page.getByRole("button").count()).toBe(0);
    expect(await stranger.page.content()).not.toMatch(/onerror|config\.json/);
    expect(problems).toEqual([]);
  },
  4 * PATIENCE,
);
