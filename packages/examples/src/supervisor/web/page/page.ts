import { html, nothing, render, type TemplateResult } from "lit-html";
import { changeLog } from "../../../web/page/change-log.ts";
import { News, type Picture } from "../../../web/page/news.ts";
import { Redrawing } from "../../../web/page/redrawing.ts";
import type { Snapshot } from "../snapshot.ts";
import { pageHeader } from "./header.ts";
import { processTable } from "./process-table.ts";
import { QueueHistory } from "./queue-history.ts";
import { queueLines } from "./queue-lines.ts";
import { replicaRow } from "./replica-row.ts";

/** Between two drawings, in milliseconds. */
const PERIOD = 100;
const CALM_PERIOD = 1_000;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const history = new QueueHistory();
const news = new News<Snapshot>("/events", (snapshot) => {
  redrawing.ask();
  if (snapshot === undefined) return;
  const { at, queue, leader, file } = snapshot;
  history.add({ at, queue });
  if (leader !== undefined) led = snapshot;
  document.title = `${leader?.identity ?? "no leader"} · ${file}`;
});

/** The latest snapshot of a leader. */
let led: Snapshot | undefined;

function body(snapshot: Snapshot, { connection, now }: Picture<Snapshot>): TemplateResult {
  // Without a leader, the processes are assumed to be as the last leader reported them.
  const { processes, at } = led ?? snapshot;
  const isLed = snapshot === led;
  return html`<main class=${isLed && connection === "live" ? "" : "stale"}>
    ${replicaRow(snapshot.replicas)} ${queueLines(history.samples, now)}
    ${processTable(processes, isLed ? now : at)} ${changeLog(snapshot.log)}
  </main>`;
}

function draw(frame: number): void {
  const picture = news.at(frame);
  const { snapshot } = picture;
  const main = snapshot === undefined ? nothing : body(snapshot, picture);
  render(html`${pageHeader(picture)}${main}`, document.body);
}

const redrawing = new Redrawing(draw, () => (calm.matches ? CALM_PERIOD : PERIOD));
redrawing.ask();
