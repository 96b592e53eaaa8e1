import { realClock } from "@holdfast/clock";
import type { Locator, Page } from "playwright-core";
import { describe, it } from "vitest";
import { PATIENCE, PATIENT, rowOf, visit } from "../../web/browser.ts";
import { outboxPage } from "./outbox-page.ts";

const upkeep = (page: Page, name: string): Locator =>
  page.getByRole("list", { name: "Upkeep" }).getByRole("listitem").filter({ hasText: name });

const answered = (page: Page, text: string): Promise<void> =>
  page.locator(".result").filter({ hasText: text }).waitFor();

/**
 * The page of a run in a real browser, in real time. The tests wait for conditions only, however long they take.
 */
export function testOutboxPage(): void {
  describe("the page of a run", PATIENT, () => {
    it("shows the messages, the workers and the lock", async ({ expect }) => {
      const now = realClock.now();
      await using world = await outboxPage({
        claims: [
          { worker: "worker-1", count: 8, until: now + 8_000 },
          { worker: "worker-0", count: 4, until: now + 600_000 },
          { worker: "worker-9", count: 1, until: now - 1 },
        ],
        lock: { holder: "worker-2/recovery", since: now, until: now + 600_000 },
      });
      await using visitor = await visit(world.url);
      const { page, problems } = visitor;
      const figures = page.getByRole("region", { name: "Messages" }).getByRole("definition");
      await figures.first().waitFor();
      const counts = (await figures.allInnerTexts()).map((text) => Number.parseInt(text, 10));
      expect(counts).toEqual([3, 5, 2, 50]);
      await page.getByText("orders placed 60").waitFor();
      await page.getByText("delivered 50 of 100").waitFor();
      const cells = async (name: string) =>
        (await rowOf(page, name).getByRole("cell").allInnerTexts()).slice(0, 3);
      expect(await cells("worker-1")).toEqual(["working", "101", "8"]);
      expect(await cells("worker-3")).toEqual(["starting", "–", "–"]);
      expect(await cells("worker-0")).toEqual([
        ...["gone", "–", expect.stringMatching(/^4, back in (9|10)m\d+s$/)],
      ]);
      expect(await cells("worker-9")).toEqual(["gone", "–", "1, ended"]);
      expect(await page.getByRole("button", { name: "Kill" }).count()).toBe(3);
      await upkeep(page, "lock")
        .filter({ hasText: /held\s+worker-2, lease for / })
        .waitFor();
      expect(await page.title()).toBe("running · outbox");

      world.show({ lock: undefined, state: "settled", trouble: "connect ECONNREFUSED" });
      await upkeep(page, "lock")
        .filter({ hasText: /free\s+last held by worker-2/ })
        .waitFor();
      await page.getByText("The tables could not be read: connect ECONNREFUSED").waitFor();
      await page.locator("header .state").filter({ hasText: "settled" }).waitFor();
      expect(problems).toEqual([]);
    });

    it("kills the worker of a button, and reports it", async ({ expect }) => {
      await using world = await outboxPage();
      await using visitor = await visit(world.url);
      const { page, problems } = visitor;
      await page.getByRole("button", { name: "Kill worker-2" }).click();
      await answered(page, "worker-2 was killed. A new worker replaces it.");
      await rowOf(page, "worker-2").waitFor({ state: "detached" });
      await page
        .getByRole("listitem")
        .filter({ hasText: /worker-2\s+was killed/ })
        .waitFor();
      await page.getByText("killed 1").waitFor();
      expect(await page.getByRole("button", { name: "Kill" }).count()).toBe(2);
      expect(problems).toEqual([]);
    });

    it("replays dead letters, and offers it only when there are some", async ({ expect }) => {
      await using world = await outboxPage();
      await using visitor = await visit(world.url);
      const { page, problems } = visitor;
      const button = page.getByRole("button", { name: "Repair and replay" });
      await button.click();
      await answered(page, "2 dead letters are pending again, and the receiver is repaired.");
      await upkeep(page, "dead letters").getByText("0", { exact: true }).waitFor();
      await expect.poll(() => button.isDisabled(), { timeout: PATIENCE }).toBe(true);
      expect(problems).toEqual([]);
    });

    it("shows why a button had no effect", async ({ expect }) => {
      await using world = await outboxPage();
      await using visitor = await visit(world.url);
      const { page } = visitor;
      world.ended.add("worker-2"); // The page has not heard of it.
      await page.getByRole("button", { name: "Kill worker-2" }).click();
      await answered(page, 'Worker "worker-2" is not running.');
      expect(await page.locator(".result").getAttribute("data-state")).toBe("refused");
      await world[Symbol.asyncDispose]();
      await page.getByRole("status").filter({ hasText: "disconnected" }).waitFor();
      await page.getByRole("button", { name: "Kill worker-1" }).click();
      await answered(page, "The program does not respond.");
    });

    it("shows text as text", async ({ expect }) => {
      const text = `<img src=x onerror="document.title='hacked'"> & </td>`;
      await using world = await outboxPage({
        trouble: text,
        workers: [{ name: text, pid: 1, state: "working" }],
        lock: { holder: text, since: 0, until: 0 },
      });
      world.board.log(text, text);
      await using visitor = await visit(world.url);
      const { page, problems } = visitor;
      await rowOf(page, text).waitFor();
      await page.getByRole("button", { name: `Kill ${text}` }).click();
      await answered(page, `${text} was killed.`);
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.title()).toBe("running · outbox");
      expect(problems).toEqual([]);
    });

    it("fits windows of all widths, light and dark", async ({ expect }) => {
      const long = "x".repeat(90);
      await using world = await outboxPage({
        workers: [{ name: long, pid: 4_194_304, state: "working" }],
        claims: [{ worker: `${long}y`, count: 16, until: realClock.now() + 8_000 }],
        lock: { holder: long, since: 0, until: realClock.now() + 6_000 },
        statuses: {
          pending: 1_000_000,
          retrying: 1_000_000,
          delivered: 1_000_000,
          dead: 1_000_000,
        },
      });
      world.board.log(long, long);
      await using visitor = await visit(world.url);
      const { page } = visitor;
      await rowOf(page, long).waitFor();
      for (const { width, colorScheme, back } of [
        { width: 390, colorScheme: "light", back: "rgb(246, 247, 249)" },
        { width: 390, colorScheme: "dark", back: "rgb(15, 18, 22)" },
        { width: 800, colorScheme: "light", back: "rgb(246, 247, 249)" },
        { width: 1_280, colorScheme: "dark", back: "rgb(15, 18, 22)" },
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        const looks = `({
        wide: document.documentElement.scrollWidth,
        back: getComputedStyle(document.documentElement).backgroundColor,
      })`;
        await expect
          .poll(() => page.evaluate(looks), { timeout: PATIENCE })
          .toEqual({ wide: width, back });
      }
    });
  });
}
