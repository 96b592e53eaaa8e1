import { html, nothing, render, type TemplateResult } from "lit-html";
import { changeLog } from "../../../web/page/change-log.ts";
import { Commands } from "../../../web/page/commands.ts";
import { News, type Picture } from "../../../web/page/news.ts";
import { Redrawing } from "../../../web/page/redrawing.ts";
import type { Snapshot } from "../snapshot.ts";
import { counts } from "./counts.ts";
import { pageHeader } from "./header.ts";
import { upkeep } from "./upkeep.ts";
import { workerTable } from "./workers.ts";

/** Between two drawings, in milliseconds. */
const PERIOD = 100;
const CALM_PERIOD = 1_000;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const news = new News<Snapshot>("/events", (snapshot) => {
  redrawing.ask();
  if (snapshot !== undefined) document.title = `${snapshot.state} · outbox`;
});
const commands = new Commands(() => redrawing.ask());

function body(snapshot: Snapshot, { connection, now }: Picture<Snapshot>): TemplateResult {
  const { send } = commands;
  return html`<main class=${connection === "live" ? "" : "stale"}>
    ${counts(snapshot)} ${upkeep(snapshot, now, send)} ${workerTable(snapshot, now, send)}
    ${changeLog(snapshot.log)}
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
