import { randomBytes } from "node:crypto";
import { realClock } from "@holdfast/clock";
import {
  escapeHtml,
  type LiveServer,
  type SnapshotSource,
  serveLivePage,
  strip,
  textReply,
  windowOf,
} from "@holdfast/kit/node";
import { COLORS, type State } from "./board.ts";

export interface PageOptions {
  readonly port: number;
  readonly status: SnapshotSource<State>;
  /** The work of its buttons, by path. */
  readonly actions: Readonly<Record<string, (parameters: URLSearchParams) => unknown>>;
}

/**
 * Serves the page on 127.0.0.1 until it is disposed of. Its address has the token that the buttons need.
 *
 * Rejects if the port is taken.
 */
export async function servePage({ port, status, actions }: PageOptions): Promise<LiveServer> {
  const token = randomBytes(16).toString("base64url");
  const server = await serveLivePage<State>({
    clock: realClock,
    realClock,
    port,
    status,
    token,
    title: () => "dns-sync",
    main: mainOf,
    style: STYLE,
    actions: new Set(Object.keys(actions)),
    reply: ({ pathname, searchParams }) => {
      if (!Object.hasOwn(actions, pathname)) return undefined;
      actions[pathname]?.(searchParams);
      return textReply(200, "done");
    },
  });
  const url = `${server.url}?token=${token}`;
  return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

// ── HTML ──

type Lease = State["leases"][number];

function button(text: string, path: string, label = text): string {
  return `<button type="button" data-post="${escapeHtml(path)}" aria-label="${escapeHtml(label)}">${text}</button>`;
}

function leaseOf(lease: Lease, from: number, to: number): string {
  const { name, token, wantedBy, records, spans, handOver } = lease;
  const now = spans.at(-1);
  const last =
    handOver === undefined ? "" : `<span class="hand-over">hand-over: ${handOver} ms</span>`;
  const facts = [`token ${token}`, `${records.synced} of ${records.all} records`];
  if (wantedBy !== "") facts.push(`${wantedBy} asks for it`);
  const line = { id: `time-${name}`, label: `Holders of ${name}`, spans, from, to };
  const title = name.replace(/^dns-sync-?/, "") || "leader";
  return `<li id="lease-${escapeHtml(name)}"><h3>${escapeHtml(title)} <span class="key ${escapeHtml(now?.look)}">${escapeHtml(now?.text)}</span></h3>
${strip(line)}
<p>${facts.map((fact) => `<span>${escapeHtml(fact)}</span>`).join(" ")} ${last}</p></li>`;
}

function replicaOf({ name, pid, look }: State["replicas"][number], leases: readonly Lease[]) {
  const held = leases.filter(({ holder }) => holder === name).length;
  const [query, id] = [`?name=${encodeURIComponent(name)}`, escapeHtml(name)];
  const buttons = `${button("Kill -9", `/kill${query}`, `Kill -9 ${name}`)} ${button("Stop", `/stop${query}`, `Stop ${name}`)}`;
  return `<li id="replica-${id}"><span class="key ${escapeHtml(look)}">${id}</span> <span>pid ${escapeHtml(pid)}, holds ${held}</span> <span>${buttons}</span></li>`;
}

function entryOf({ at, text }: State["log"][number]): string {
  const time = new Date(at).toISOString();
  return `<li><time datetime="${time}">${time.slice(11, 23)}</time> ${escapeHtml(text)}</li>`;
}

/** The content of the page. */
export function mainOf({
  at,
  start,
  api,
  leases,
  replicas,
  records,
  provider,
  log,
}: State): string {
  const { length, text } = windowOf(start, at);
  const fault = provider.fault && `; now: ${provider.fault}`;
  return `<header id="about"><h1>dns-sync</h1><p>${escapeHtml(api)}</p></header>
<h2>Leases, in the last ${text}</h2>
<ul id="leases">${leases.map((one) => leaseOf(one, at - length, at)).join("\n")}</ul>
<h2>Replicas</h2>
<ul id="replicas">${replicas.map((one) => replicaOf(one, leases)).join("\n")}</ul>
<p id="actions">${button("Add a replica", "/add")} ${button("Edit all records", "/edit")} ${button("Provider outage", "/outage")}</p>
<h2>Records</h2>
<p id="facts">${records.synced} of ${records.all} in sync, ${provider.records} at the provider; ${provider.requests} requests, ${provider.overQuota} beyond the quota, ${provider.refused} refused by the fence${escapeHtml(fault)}</p>
<h2>Log, in UTC</h2>
<ol id="log" tabindex="0" aria-label="Log, the newest first">${log.map(entryOf).join("\n")}</ol>`;
}

const HUES = Array.from({ length: COLORS }, (_, index) => {
  const hue = (index * 137) % 360;
  return `.replica${index} { --look: light-dark(hsl(${hue} 55% 55%), hsl(${hue} 50% 45%)); }`;
});

const STYLE = `ul { list-style: none; padding: 0; margin: 0; }
#leases { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0.9rem 2rem; }
#leases h3, #leases p { margin: 0; font-size: 0.95rem; }
#leases p span + span::before { content: "· "; opacity: 0.75; }
.hand-over { font-weight: 600; font-variant-numeric: tabular-nums; }
#replicas li { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; align-items: center; padding: 0.2rem 0; }
#replicas .key { margin: 0; min-width: 7rem; }
#actions { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.free { --look: color-mix(in srgb, currentcolor 15%, transparent); }
${HUES.join("\n")}
`;
