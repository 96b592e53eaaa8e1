import { randomBytes } from "node:crypto";
import { type Clock, realClock } from "@holdfast/clock";
import { escapeHtml, type SnapshotSource, serveLivePage } from "@holdfast/kit/node";
import { loop } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { type Command, connected, read, wholeNumber } from "./command.ts";
import type { Connection } from "./connect.ts";
import { problemText } from "./problem.ts";
import { countsOf, isLate, nextText, type Status, statusOf } from "./status.ts";
import { instantText, jsonLine, safeText } from "./text.ts";

/** How often the page looks, in milliseconds. */
const PERIOD = 2_000;
/** How often it tries to listen, in milliseconds. */
const LISTEN_PERIOD = 30_000;
/** How many dead letters it shows. */
const LETTERS = 100;
/** In place of a text that needs the token. */
const HIDDEN = "(open the address that the command has printed)";
/** The longest part of an error that it shows, in characters. */
const SHORT = 300;

type Letter = Pick<
  Message,
  "id" | "topic" | "key" | "updatedAt" | "failedAttempts" | "maxAttempts" | "lastError"
>;

/**
 * An outbox as its page shows it. Payloads and headers are left out, and what a receiver said is for the user of the command:
 * others on this machine can connect to the page.
 */
interface Snapshot {
  /** The clock of this process, in milliseconds since the epoch. */
  readonly at: number;
  readonly database: string;
  readonly status: Status;
  readonly letters: readonly Letter[];
  /** Why the database cannot be read now; undefined if it can. */
  readonly problem: string | undefined;
  /** Whether no notification reaches this process, or a relay that connects as it does. */
  readonly polls: boolean;
}

/** What was last read of an outbox. */
class Board implements SnapshotSource<Snapshot> {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #seen: Pick<Snapshot, "status" | "letters">;
  #problem: string | undefined;
  #polls: boolean;

  private constructor(
    connection: Connection,
    clock: Clock,
    seen: Pick<Snapshot, "status" | "letters">,
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#seen = seen;
    this.#polls = connection.store.listen === undefined;
  }

  /** Rejects if the outbox cannot be read. */
  static async open(connection: Connection, clock: Clock): Promise<Board> {
    return new Board(connection, clock, await look(connection, clock));
  }

  snapshot(): Snapshot {
    const at = this.#clock.now();
    const { name: database } = this.#connection;
    return { at, database, ...this.#seen, problem: this.#problem, polls: this.#polls };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async refresh(): Promise<void> {
    this.#seen = await look(this.#connection, this.#clock);
    this.fail(undefined);
  }

  /** Finds out whether notifications arrive, and follows the connection. */
  async listen(signal: AbortSignal): Promise<void> {
    const onError = (): void => {
      this.#polls = true;
    };
    const listen = async (): Promise<void> => {
      await this.#connection.store.listen?.(() => {
        this.#polls = false;
      }, signal);
    };
    await loop({ run: listen, onError, delay: () => LISTEN_PERIOD, clock: this.#clock, signal });
  }

  /** Shows why the database cannot be read, beside what was last read of it. */
  fail(problem: string | undefined): void {
    this.#problem = problem;
    for (const listener of this.#listeners) listener();
  }
}

async function look(
  { store }: Connection,
  clock: Clock,
): Promise<Pick<Snapshot, "status" | "letters">> {
  const status = await statusOf(store, clock.now());
  const found = await store.deadLetters({ topic: undefined, after: undefined, limit: LETTERS });
  const letters = found.map(
    ({ id, topic, key, updatedAt, failedAttempts, maxAttempts, lastError }) => {
      return { id, topic, key, updatedAt, failedAttempts, maxAttempts, lastError };
    },
  );
  return { status, letters };
}

/** What others on this machine may see: counts, and which messages are dead, but no text of a receiver or a database. */
function forOthers({ letters, problem, ...rest }: Snapshot): Snapshot {
  return {
    ...rest,
    letters: letters.map(({ lastError, ...letter }) => ({
      ...letter,
      lastError: lastError && HIDDEN,
    })),
    problem: problem && HIDDEN,
  };
}

/** `page [--port PORT]`: serves until the signal aborts. */
export const page: Command = async (args, io) => {
  const { values } = read(args, { port: { type: "string" } });
  const port = wholeNumber("--port", values.port ?? "0", { least: 0, most: 65_535 });
  await using connection = await connected(io, values);
  const { clock, signal } = io;
  const board = await Board.open(connection, clock);
  const token = randomBytes(16).toString("base64url");
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
  });
  const url = `${server.url}?token=${token}`;
  io.print(values.json ? jsonLine({ url }) : `${url}\n`);
  const onError = (error: unknown): void =>
    board.fail(problemText(error, [values.url, io.env["DATABASE_URL"]]));
  const delay = (): number => PERIOD;
  const listening = board.listen(signal);
  await loop({ run: () => board.refresh(), onError, delay, immediate: false, clock, signal });
  await listening;
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
<h2>Dead letters</h2>
${tableOf(snapshot)}`;
}

const STYLE = `#problem { color: light-dark(#ad1f1f, #ff8f85); font-weight: 600; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; margin: 0 0 1rem; }
dt { opacity: 0.75; }
dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
tbody th { font-weight: 400; font-family: ui-monospace, monospace; font-size: 0.85em; white-space: nowrap; }
`;
