import { type Clock, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { Registry } from "prom-client";
import { describe, it } from "vitest";
import { serve } from "../../../src/supervisor/web/serve.ts";
import type { ProcessSnapshot, Snapshot } from "../../../src/supervisor/web/snapshot.ts";
import { PATIENCE, PATIENT, rowOf, visit } from "../../web/browser.ts";
import { ScriptedStatus } from "./scripted-status.ts";

function processNamed(name: string, change: Partial<ProcessSnapshot> = {}): ProcessSnapshot {
  return {
    name,
    phase: "Running",
    ready: undefined,
    pid: 4711,
    restarts: 0,
    lastExit: undefined,
    nextStart: undefined,
    waits: [],
    cap: 8_000,
    ...change,
  };
}

/** In a wait that began just now. */
function crashing(name: string, planned: number): ProcessSnapshot {
  return processNamed(name, {
    phase: "CrashLoopBackOff",
    pid: undefined,
    restarts: 1,
    lastExit: 'code 1 after 6ms, "no config"',
    nextStart: realClock.now() + planned,
    waits: [
      { planned: 1_000, measured: 1_007 },
      { planned, measured: undefined },
    ],
  });
}

const replica = (identity: string, role: Snapshot["replicas"][number]["role"]) => ({
  identity,
  role,
  pid: role === "down" ? undefined : 100,
  restarts: 0,
});

/** An hour after the start of the page, in its own time. */
const PAUSED = 3_600_000;

/** Counts the frames that a page asks for. */
const COUNT_FRAMES = `
  globalThis.asked = 0;
  const ask = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = (draw) => { asked += 1; return ask(draw); };
`;

/**
 * What the page shows of what a server tells, in a real browser in real time. All that is waited for is a
 * condition, however long it takes.
 */
export function testPage(): void {
  describe("the page", PATIENT, () => {
    async function world(state: Partial<Snapshot>, clock: Clock = realClock) {
      const leader = { identity: "supervisor", token: 1, since: realClock.now() };
      const status = new ScriptedStatus(realClock, { leader, ...state });
      const start = (port = 0) => serve({ clock, port, status, register: new Registry() });
      const server = await start();
      return { status, server, start, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    }

    it("shows each process in a row, without errors", async ({ expect }) => {
      await using shown = await world({
        file: "my.yaml",
        processes: [
          processNamed("web", { ready: true, pid: 8308, restarts: 2 }),
          processNamed("job", { phase: "Completed", pid: undefined, lastExit: "code 0 after 2s" }),
        ],
        queue: { size: 1, delayed: 23, inFlight: 3 },
        log: [{ at: 0, name: "web", text: "Running, pid 8308" }],
      });
      await using visitor = await visit(shown.server.url);
      const { page } = visitor;
      const cells = (name: string) => rowOf(page, name).getByRole("cell").allInnerTexts();
      await rowOf(page, "web").waitFor();
      expect(await cells("web")).toEqual(["Running", "ready", "8308", "2", "", "–"]);
      expect(await cells("job")).toEqual(["Completed", "–", "–", "0", "", "code 0 after 2s"]);
      expect(await page.getByRole("definition").allInnerTexts()).toEqual(["1", "23", "3"]);
      expect(await page.getByRole("listitem").allInnerTexts()).toEqual([
        expect.stringMatching(/^\d\d:00:00\.000\s+web\s+Running, pid 8308$/),
      ]);
      expect(await page.locator("header code").textContent()).toBe("my.yaml");
      expect(await page.title()).toBe("supervisor · my.yaml");
      await page
        .getByRole("status")
        .filter({ hasText: /^live$/ })
        .waitFor();
      expect(visitor.problems).toEqual([]);
    });

    it("fills the bars and counts down during a delay, and shows the measured time", async ({
      expect,
    }) => {
      const long = 120_000;
      await using shown = await world({ processes: [crashing("crasher", long)] });
      await using visitor = await visit(shown.server.url, { reducedMotion: "no-preference" });
      const { page } = visitor;
      const row = rowOf(page, "crasher");
      await row.getByText("CrashLoopBackOff").waitFor();
      const fill = async () =>
        Number(await row.locator(".under-way .measured").getAttribute("height"));
      const left = async () => {
        const text = (await row.textContent()) ?? "";
        const [, minutes = "0", seconds] = /starts in (?:(\d+)m)?(\d+)s/.exec(text) ?? [];
        return 60 * Number(minutes) + Number(seconds);
      };
      const [fillBefore, leftBefore] = [await fill(), await left()];
      expect(leftBefore).toBeGreaterThan(0);
      await expect.poll(fill, { timeout: PATIENCE }).toBeGreaterThan(fillBefore);
      await expect.poll(left, { timeout: PATIENCE }).toBeLessThan(leftBefore);
      await row
        .getByRole("img", {
          name: /planned 1s, measured 1.01s \(\+7ms\); planned 2m00s, under way; at most 8s$/,
        })
        .waitFor();

      const waits = [
        { planned: 1_000, measured: 1_007 },
        { planned: 2_000, measured: 2_003 },
      ];
      shown.status.show({ processes: [processNamed("crasher", { restarts: 2, waits })] });
      await row.getByText("Running").waitFor();
      await row.locator("small", { hasText: "planned 2s, measured 2s (+3ms)" }).waitFor();
      expect(await row.getByText("starts in").count()).toBe(0);
      expect(await row.locator(".over").count()).toBe(2);
      expect(visitor.problems).toEqual([]);
    });

    it("shows a change of leader, the time without one, and the last known processes", async ({
      expect,
    }) => {
      const led = (identity: string, token: number) => ({
        identity,
        token,
        since: realClock.now(),
      });
      await using shown = await world({
        leader: led("r1", 1),
        replicas: [replica("r1", "leader"), replica("r2", "standby")],
        processes: [processNamed("web", { pid: 21 })],
      });
      await using visitor = await visit(shown.server.url);
      const { page } = visitor;
      const told = (text: RegExp) =>
        page.locator("[aria-live]").filter({ hasText: text }).waitFor();
      await page.getByText("r1 leads token 1").waitFor();
      await told(/^r1 leads\.$/);

      shown.status.show({
        leader: undefined,
        replicas: [replica("r1", "down"), replica("r2", "standby")],
        processes: [],
      });
      await page.getByText("No leader until").waitFor();
      await told(/^No leader\.$/);
      await page.getByRole("listitem", { name: "r1, down" }).waitFor();
      expect(await rowOf(page, "web").getByText("21", { exact: true }).count()).toBe(1);
      expect(await page.locator("main.stale").count()).toBe(1);

      shown.status.show({
        leader: led("r2", 2),
        replicas: [replica("r1", "standby"), replica("r2", "leader")],
        processes: [processNamed("web", { pid: 22 })],
      });
      await page.getByText("r2 leads token 2").waitFor();
      await told(/^r2 leads\.$/);
      await rowOf(page, "web").getByText("22", { exact: true }).waitFor();
      expect(await page.locator("main.stale").count()).toBe(0);
      expect(visitor.problems).toEqual([]);
    });

    it("shows that it is disconnected, freezes, and is live again with the server", async ({
      expect,
    }) => {
      await using shown = await world({ processes: [crashing("crasher", 600_000)] });
      await using visitor = await visit(shown.server.url);
      const { page } = visitor;
      const is = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
      await is("live");
      await shown.server[Symbol.asyncDispose]();
      await is("disconnected");
      const countdown = () => rowOf(page, "crasher").locator("b").textContent();
      const before = await countdown();
      await page.getByText(/updated \S+ ago/).waitFor();
      expect(await countdown()).toBe(before);

      shown.status.show({ processes: [processNamed("newcomer")] });
      await using _again = await shown.start(Number(new URL(shown.server.url).port));
      await is("live");
      await rowOf(page, "newcomer").waitFor();
    });

    it("shows a server as stalled that accepts connections and sends nothing", async () => {
      // Its clock stands, so it does not beat.
      await using shown = await world({}, new FakeClock());
      await using visitor = await visit(shown.server.url);
      await visitor.page.getByRole("status").filter({ hasText: "stalled" }).waitFor();
    });

    it("shows text as text", async ({ expect }) => {
      const text = `<img src=x onerror="document.title='hacked'"> & </td>`;
      await using shown = await world({
        file: text,
        processes: [processNamed(text, { lastExit: text })],
        log: [{ at: 0, name: text, text }],
      });
      await using visitor = await visit(shown.server.url);
      const { page, problems } = visitor;
      await rowOf(page, text).waitFor();
      expect(await page.getByText(text, { exact: true }).count()).toBe(5);
      expect(await page.locator("main img").count()).toBe(0);
      expect(await page.title()).toBe(`supervisor · ${text}`);
      expect(problems).toEqual([]);
    });

    it("runs only its own script", async ({ expect }) => {
      await using shown = await world({});
      await using visitor = await visit(shown.server.url);
      const { page, problems } = visitor;
      await page.getByRole("table").waitFor();
      await page.evaluate(() => {
        const { document } = globalThis as unknown as {
          document: { body: { insertAdjacentHTML: (where: string, html: string) => void } };
        };
        document.body.insertAdjacentHTML(
          "beforeend",
          `<button onclick="document.title='hacked'">x</button>`,
        );
      });
      await page.getByRole("button").click();
      expect(await page.title()).toBe("supervisor · demo.yaml");
      expect(problems).toEqual([expect.stringMatching(/Content Security Policy/)]);
    });

    it("fits windows of all widths, light and dark", async ({ expect }) => {
      const long = "x".repeat(90);
      await using shown = await world({
        replicas: [replica("r1", "leader"), replica("r2", "down"), replica("r3", "standby")],
        processes: [crashing("crasher", 8_000), processNamed(long, { lastExit: long })],
        log: [{ at: 0, name: long, text: `${long}/${long}/${long}` }],
      });
      await using visitor = await visit(shown.server.url);
      const { page } = visitor;
      await rowOf(page, "crasher").waitFor();
      for (const { width, colorScheme, back } of [
        { width: 380, colorScheme: "light", back: "rgb(246, 247, 249)" },
        { width: 380, colorScheme: "dark", back: "rgb(15, 18, 22)" },
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

    it.for([
      { reducedMotion: "reduce", drawings: 10 },
      { reducedMotion: "no-preference", drawings: 90 },
    ] as const)(
      "draws $drawings times in 10.08 s with prefers-reduced-motion: $reducedMotion",
      async ({ reducedMotion, drawings }, { expect }) => {
        // The server is silent and the time of the page stands, but for what the test lets pass.
        await using shown = await world({ processes: [processNamed("web")] }, new FakeClock());
        await using visitor = await visit(shown.server.url, { reducedMotion }, 0);
        const { page } = visitor;
        await rowOf(page, "web").waitFor();
        await page.clock.pauseAt(PAUSED);
        await page.clock.runFor(2_000); // From here on the drawings are regular.
        await page.evaluate(COUNT_FRAMES);
        // A drawing each 100 or 1,000 ms, in the next frame: each 112 or 1,008 ms.
        await page.clock.runFor(10_080);
        expect(await page.evaluate("asked")).toBe(drawings);
      },
    );
  });
}
