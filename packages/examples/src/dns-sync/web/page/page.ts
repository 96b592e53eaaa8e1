import { html, nothing, render, type TemplateResult } from "lit-html";
import { changeLog } from "../../../web/page/change-log.ts";
import { Commands } from "../../../web/page/commands.ts";
import { News, type Picture } from "../../../web/page/news.ts";
import { Redrawing } from "../../../web/page/redrawing.ts";
import type { Snapshot } from "../snapshot.ts";
import { baselineSection } from "./baseline.ts";
import { driftSection } from "./drift.ts";
import { faultButtons } from "./fault-buttons.ts";
import { pageHeader } from "./header.ts";
import { invariantPanel } from "./invariants.ts";
import { queueSection } from "./queue.ts";
import { replicaTable } from "./replicas.ts";

/** Interval between redraws in milliseconds; the second for reduced motion. */
const PERIOD = 250;
const CALM_PERIOD = 1_000;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const news = new News<Snapshot>("/events", () => redrawing.ask());
const commands = new Commands(() => redrawing.ask());

function body(snapshot: Snapshot, { connection, now }: Picture<Snapshot>): TemplateResult {
  return html`<main class=${connection === "live" ? "" : "stale"}>
    ${faultButtons(snapshot, commands.send)} ${invariantPanel(snapshot.invariants)}
    <div class="sections">${driftSection(snapshot)} ${baselineSection(snapshot.baseline)}</div>
    ${replicaTable(snapshot, now)} ${queueSection(snapshot, now)} ${changeLog(snapshot.log)}
  </main>`;
}

function draw(frame: number): void {
  const picture = news.at(frame);
  const { snapshot } = picture;
  const main = snapshot === undefined ? nothing : body(snapshot, picture);
  render(html`${pageHeader(picture, commands.result)}${main}`, document.body);
}

const redrawing = new Redrawing(draw, () => (calm.matches ? CALM_PERIOD : PERIOD));
redrawing.ask();
