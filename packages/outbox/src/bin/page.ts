import { randomBytes } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { escapeHtml, type Reply, serveLivePage, textReply } from "@holdfast/kit/node";
import { loop } from "@holdfast/wait/loop";
import { Board, forOthers, type Letter, type Replay, type Snapshot } from "./board.ts";
import { type Command, connected, read, wholeNumber } from "./command.ts";
import type { TopicView } from "./history.ts";
import { problemText } from "./problem.ts";
import { countsOf, isLate, nextText } from "./status.ts";
import { ageText, instantText, jsonLine, safeText } from "./text.ts";

/** How often the page looks, in milliseconds. */
const PERIOD = 2_000;
/** The longest part of an error that it shows, in characters. */
const SHORT = 300;
const REPLAY = "/replay";

/** `page [--port PORT]`: serves until the signal aborts. */
export const page: Command = async (args, io) => {
  const { values } = read(args, { port: { type: "string" } });
  const port = wholeNumber("--port", values.port ?? "0", { least: 0, most: 65_535 });
  await using connection = await connected(io, values);
  const { clock, signal } = io;
  const board = await Board.open(connection, clock);
  const token = randomBytes(16).toString("base64url");
  const textOf = (error: unknown): string =>
    problemText(error, [values.url, io.env["DATABASE_URL"]]);
  const reply = ({ pathname, searchParams }: URL): Reply | undefined => {
    if (pathname !== REPLAY) return undefined;
    const isBegun = board.replay(searchParams.get("topic") ?? undefined, textOf, signal);
    return isBegun ? textReply(202, "Replaying.") : textReply(409, "A replay is under way.");
  };
  await using server = await serveLivePage<Snapshot>({
    clock,
    realClock,
    port,
    status: board,
    token,
    forOthers,
    title: ({ database }) => `Outbox in ${database}`,
    main: mainOf,
    style: STYLE,
    reply,
    actions: new Set([REPLAY]),
  });
  const url = `${server.url}?token=${token}`;
  io.print(values.json ? jsonLine({ url }) : `${url}\n`);
  const onError = (error: unknown): void => board.fail(textOf(error));
  const delay = (): number => PERIOD;
  const listening = board.listen(signal);
  await loop({ run: () => board.refresh(), onError, delay, immediate: false, clock, signal });
  await Promise.all([listening, board.replayed()]);
  return 0;
};

// ── HTML ──

function cells(texts: readonly (string | number)[]): string {
  return texts.map((text) => `<td>${escapeHtml(text)}</td>`).join("");
}

function rowOf(letter: Letter): string {
  const { id, updatedAt, topic, key, failedAttempts, maxAttempts, lastError = "" } = letter;
  const facts = [instantText(updatedAt), safeText(topic), safeText(key)];
  const attempts = `${failedAttempts} of ${maxAttempts}`;
  return `<tr id="letter-${escapeHtml(id)}"><th scope="row">${escapeHtml(safeText(id))}</th>${cells([...facts, attempts, safeText(lastError, SHORT)])}</tr>`;
}

const COLUMNS = ["Id", "Died", "Topic", "Key", "Attempts", "Last error"];

function tableOf({ status: { dead }, letters }: Snapshot): string {
  if (letters.length === 0) return '<p id="none">No dead letters.</p>';
  const head = COLUMNS.map((column) => `<th scope="col">${column}</th>`).join("");
  const more = dead > letters.length ? `<p id="more">The first ${letters.length}.</p>` : "";
  return `<table><thead><tr>${head}</tr></thead><tbody>${letters.map(rowOf).join("\n")}</tbody></table>${more}`;
}

function problemOf({ problem, status }: Snapshot): string {
  if (problem !== undefined) return `The database cannot be read: ${problem}`;
  if (status.restriction !== undefined) return status.restriction;
  return isLate(status) ? "Messages are due and no relay claims them: is one running?" : "";
}

function pollsOf({ polls }: Snapshot): string {
  if (!polls) return "";
  return '<p id="polls">No notification arrives here: relays that connect in the same way look every pollInterval.</p>';
}

function pausedOf({ paused }: Snapshot): string {
  if (paused.length === 0) return "";
  return `<p id="paused">Paused: ${escapeHtml(paused.map((topic) => safeText(topic)).join(", "))}. Their messages wait for <code>resume TOPIC</code>.</p>`;
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, each) => sum + each, 0);

/** Bars of 60 minutes: what was delivered, and above it what failed. */
function chartOf(id: string, { delivered, failed }: TopicView): string {
  const [width, height] = [4, 32];
  const most = Math.max(1, ...delivered.map((count, at) => count + (failed[at] ?? 0)));
  const bar = (kind: string, at: number, from: number, count: number): string => {
    if (count === 0) return "";
    const size = Math.max(1, Math.round((count / most) * height));
    const top = Math.max(0, height - Math.round((from / most) * height) - size);
    return `<rect class="${kind}" x="${at * width}" y="${top}" width="${width - 1}" height="${size}"/>`;
  };
  const bars = delivered.map((count, at) => {
    const bad = failed[at] ?? 0;
    return `${bar("delivered", at, 0, count)}${bar("failed", at, count, bad)}`;
  });
  const label = `Of the last 60 minutes, the busiest had ${most}`;
  const size = `viewBox="0 0 ${60 * width} ${height}" preserveAspectRatio="none"`;
  return `<svg id="chart-${id}" role="img" aria-label="${label}" ${size}>${bars.join("")}</svg>`;
}

function buttonOf(topic: string | undefined, isDisabled: boolean): string {
  const path = topic === undefined ? REPLAY : `${REPLAY}?topic=${encodeURIComponent(topic)}`;
  const what = topic === undefined ? "all dead letters" : `the dead letters of ${safeText(topic)}`;
  const ask = `Replay ${what}? Relays send them as fast as they can.`;
  return `<button type="button" data-post="${escapeHtml(path)}" data-confirm="${escapeHtml(ask)}" aria-label="${escapeHtml(`Replay ${what}`)}"${isDisabled ? " disabled" : ""}>Replay${topic === undefined ? " all" : ""}</button>`;
}

function topicOf(view: TopicView, { status: { at }, replay, canReplay }: Snapshot): string {
  const { topic, waiting, dead, isCut, oldest, delivered, failed } = view;
  const id = topic === undefined ? "" : escapeHtml(encodeURIComponent(topic));
  const more = isCut ? " or more" : "";
  const facts: readonly (readonly [string, string | number])[] = [
    ["delivered", sumOf(delivered)],
    ["last minute", delivered.at(-2) ?? 0],
    ["failed", sumOf(failed)],
    ["waiting", `${waiting}${more}`],
    ["oldest", oldest === undefined ? "–" : ageText(at - oldest)],
    ["dead", `${dead}${more}`],
  ];
  const list = facts.map(([name, fact]) => `<div><dt>${name}</dt><dd>${fact}</dd></div>`);
  const hasButton = canReplay && topic !== undefined && dead > 0;
  const button = hasButton ? buttonOf(topic, replay?.isOver === false) : "";
  return `<li><h3>${escapeHtml(topic === undefined ? "other topics" : safeText(topic))}</h3>
${chartOf(id, view)}
<dl id="facts-${id}">${list.join("")}</dl>
<span id="act-${id}">${button}</span></li>`;
}

function topicsOf(snapshot: Snapshot): string {
  const { topics } = snapshot;
  if (topics.length === 0) return '<p id="quiet">No messages in the last hour.</p>';
  return `<ul id="topics">${topics.map((view) => topicOf(view, snapshot)).join("\n")}</ul>`;
}

function replayOf(replay: Replay | undefined): string {
  if (replay === undefined) return "";
  const { topic, count, isOver, problem } = replay;
  const what = topic === undefined ? `${count}` : `${count} of ${safeText(topic)}`;
  if (!isOver) return `Replaying: ${what} so far.`;
  return problem === undefined ? `Replayed ${what}.` : `Replayed ${what}, then stopped: ${problem}`;
}

/** The content of the page. */
function mainOf(snapshot: Snapshot): string {
  const { database, status } = snapshot;
  const counts = countsOf(status).map(
    ([name, count]) => `<div><dt>${name}</dt><dd>${count}</dd></div>`,
  );
  return `<header id="about"><h1>Outbox</h1><p>${escapeHtml(safeText(database))}</p></header>
<p id="problem" role="alert">${escapeHtml(problemOf(snapshot))}</p>
<dl id="counts">${counts.join("")}<div><dt>next attempt</dt><dd>${escapeHtml(nextText(status))}</dd></div></dl>
${pollsOf(snapshot)}
<h2>Topics, in the last hour</h2>
${pausedOf(snapshot)}
${topicsOf(snapshot)}
<h2>Dead letters</h2>
<p id="replay" role="status">${escapeHtml(replayOf(snapshot.replay))}</p>
<p id="all">${snapshot.canReplay && status.dead > 0 ? buttonOf(undefined, snapshot.replay?.isOver === false) : ""}</p>
${tableOf(snapshot)}`;
}

const STYLE = `#about p { overflow-wrap: anywhere; }
#problem { color: light-dark(#ad1f1f, #ff8f85); font-weight: 600; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; margin: 0 0 1rem; }
dt { opacity: 0.75; }
dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
tbody th { font-weight: 400; font-family: ui-monospace, monospace; font-size: 0.85em; white-space: nowrap; }
ul { list-style: none; padding: 0; margin: 0; }
li { display: grid; grid-template-columns: minmax(8rem, 1fr) 15rem 2.5fr 5.5rem; gap: 0.25rem 1.5rem; align-items: center; padding: 0.5rem 0; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
li h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
li dl { display: grid; grid-template-columns: repeat(6, 1fr); gap: 0.25rem 0.75rem; margin: 0; }
li dt { font-size: 0.8rem; }
li dd { font-size: 1rem; overflow-wrap: anywhere; }
svg { width: 100%; height: 2rem; background: color-mix(in srgb, currentcolor 7%, transparent); }
.delivered { fill: light-dark(#2266aa, #7db7f0); }
.failed { fill: light-dark(#ad1f1f, #ff8f85); }
#replay:empty, #all:empty { display: none; }
@media (min-width: 60.01rem) { td:nth-child(2) { white-space: nowrap; } td:nth-child(3), td:nth-child(4) { min-width: 6rem; } td:last-child { min-width: 18rem; } }
@media (max-width: 60rem) {
  li { grid-template-columns: 1fr auto; }
  li svg, li dl { grid-column: 1 / -1; }
  li span { grid-area: 1 / 2; }
  li dl { grid-template-columns: repeat(3, 1fr); }
  thead { display: none; }
  tbody { display: block; }
  tr { display: grid; grid-template-columns: 1fr auto; gap: 0.1rem 1rem; padding: 0.5rem 0; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
  tbody tr > * { min-width: 0; padding: 0; border: 0; white-space: normal; }
  tbody th, td:nth-child(3), td:last-child { grid-column: 1 / -1; }
  td:nth-child(5)::after { content: " attempts"; }
}
`;
