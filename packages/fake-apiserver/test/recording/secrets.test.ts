import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Recording } from "@holdfast/controller/recording";
import { FakeApi, replay } from "@holdfast/fake-apiserver";
import { yieldTurn } from "@holdfast/kit";
import {
  builtIn,
  type KubeObject,
  type KubeTransport,
  type OperatorSetup,
  runOperator,
} from "@holdfast/kubernetes";
import fc from "fast-check";
import { expect, inject, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

type WithData = KubeObject & { data?: { [name: string]: string } };
const ConfigMap = builtIn<WithData>("v1", "ConfigMap");
const Secret = builtIn<WithData>("v1", "Secret");

const SECRETS = 100;
const VALUES = 10;

const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As Go writes JSON, and so the API server. */
const escapedByGo = (text: string): string =>
  escaped(text).replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
const digests = (value: string | Uint8Array): string[] =>
  ["md5", "sha1", "sha256"].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(value).digest();
    return [digest.toString("hex"), digest.toString("base64")];
  });

/** What programs and servers make of a value of a Secret. */
function formsOf(value: Uint8Array, isText: boolean = isUtf8(value)): string[] {
  const text = Buffer.from(value).toString();
  const base64 = Buffer.from(value).toString("base64");
  if (!isText) return [base64, ...digests(value)];
  const written = [text, escaped(text), escapedByGo(text), escaped(escapedByGo(text))];
  return [...written, escapedByGo(escaped(text)), base64, ...digests(text)];
}

const letters = fc.stringMatching(/^[ -~]{12,60}$/);
const any = fc.string({ unit: "grapheme", minLength: 10, maxLength: 40 });
const textual = fc.oneof(letters, any).filter((text) => new Set(text).size > 5);
const value = fc.oneof(
  textual.map((text) => new TextEncoder().encode(text)),
  fc.uint8Array({ minLength: 16, maxLength: 60 }),
);

/** Records an operator that writes all that it can make of the Secrets that it sees. */
async function record(
  seed: (api: FakeApi, clock: FakeClock, directory: string) => Promise<void>,
  setup: OperatorSetup,
  through = (transport: KubeTransport): KubeTransport => transport,
): Promise<Recording> {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap, Secret] });
  const stop = new AbortController();
  await clock.run(async () => {
    const transport = through(api.transport);
    const running = runOperator(
      {
        ...{ name: "copier", transport, setup, clock },
        recording: { directory, segmentBytes: 50_000 },
        ...{ health: false, leaderElection: false, logger: silentLogger },
      },
      stop.signal,
    );
    await clock.sleep(1_000);
    await seed(api, clock, directory);
    await clock.sleep(60_000);
    stop.abort();
    await running;
  });
  return await openRecording(directory);
}

const textOf = ({ files }: Recording): string =>
  files.map((file) => gunzipSync(readFileSync(file)).toString()).join("");

/** All texts in a text of JSON. */
function stringsOf(json: string): string[] {
  const found: string[] = [];
  if (json !== "")
    JSON.parse(json, (_, part: unknown) => {
      if (typeof part === "string") found.push(part);
      return part;
    });
  return found;
}

const copier: OperatorSetup = ({ cluster, client, controller }) => {
  const secrets = cluster.watch(Secret);
  return () => [
    controller({
      name: "copier",
      sources: [secrets.source()],
      async reconcile({ key, signal }) {
        const secret = secrets.get(key);
        if (secret?.data === undefined) return;
        const forms = Object.entries(secret.data).map(([name, data]) =>
          formsOf(Buffer.from(data, "base64"), name.startsWith("text")),
        );
        const { namespace = "", name } = secret.metadata;
        const data = { forms: forms.flat().join("\n") };
        await client.apply(ConfigMap, { metadata: { namespace, name }, data }, { signal });
      },
    }),
  ];
};

/** The segments of a directory that begin with a snapshot. */
function snapshotsIn(directory: string): string[] {
  return readdirSync(directory)
    .toSorted()
    .map((name) => join(directory, name))
    .filter((file) => gunzipSync(readFileSync(file), { finishFlush: 2 }).includes('{"k":"o"'));
}

it("has nothing of 1,000 drawn values of Secrets in its files and snapshots, and replays", async () => {
  const drawn = fc.sample(value, { numRuns: SECRETS * VALUES, seed: inject("seed") });
  const recording = await record(async ({ client }, clock, directory) => {
    for (let number = 0; number < SECRETS; number++) {
      const own = drawn.slice(number * VALUES, (number + 1) * VALUES);
      const coded = own.map((one, at) => [
        `${isUtf8(one) ? "text" : "bytes"}-${at}`,
        Buffer.from(one).toString("base64"),
      ]);
      const metadata = { namespace: "default", name: `secret-${number}` };
      await client.create(Secret, { metadata, data: Object.fromEntries(coded) });
    }
    const metadata = { namespace: "default", name: "secret-0" };
    for (let round = 0; snapshotsIn(directory).length === 0; round++) {
      await client.patch(Secret, metadata, { metadata: { labels: { round: `${round}` } } });
      await clock.sleep(1_000);
      await clock.external(yieldTurn(realClock)); // the disk and the worker take real time
    }
  }, copier);
  const { files } = recording;
  const [snapshot = ""] = snapshotsIn(dirname(files[0] as string));
  const later = new Recording(files.slice(files.indexOf(snapshot)));
  const ofSnapshot = [...(later.known() ?? [])];
  expect(ofSnapshot.filter(({ n = 0 }) => n < 0).length).toBeGreaterThan(0);
  const bodies = [...recording.lines(), ...ofSnapshot].map(({ body = "" }) => `${body}`);
  const strings = bodies.flatMap((body) => body.split("\n")).flatMap(stringsOf);
  const text = [textOf(recording), ...bodies, ...strings].join("\n");
  expect(text).toContain("redacted-");
  const beginnings = new Map<string, string[]>();
  for (const form of drawn.flatMap((one) => formsOf(one))) {
    const begin = form.slice(0, 8);
    beginnings.set(begin, [...(beginnings.get(begin) ?? []), form]);
  }
  const found: string[] = [];
  for (let at = 0; at < text.length; at++)
    for (const form of beginnings.get(text.slice(at, at + 8)) ?? [])
      if (text.startsWith(form, at)) found.push(form);
  expect(found).toEqual([]);
  const { divergence } = await replay(recording, { setup: copier });
  expect(divergence?.text).toBeUndefined();
});

const watcher: OperatorSetup = ({ cluster }) => {
  cluster.watch(Secret);
  return () => [];
};
const metadata = { namespace: "default", name: "login" };
const coded = (text: string): string => Buffer.from(text).toString("base64");

it("has no value that kubectl has applied before", async () => {
  const earlier = { data: { password: coded("of-last-year") }, stringData: { pin: "a<b>1234" } };
  const applied = escapedByGo(JSON.stringify(earlier)).replaceAll('\\"', '"');
  const recording = await record(async ({ client }) => {
    const annotations = { [APPLIED]: `${applied}\n` };
    const data = { password: coded("of-this-year") };
    await client.create(Secret, { metadata: { ...metadata, annotations }, data });
  }, watcher);
  const text = textOf(recording);
  expect(text).toContain(APPLIED);
  for (const value of ["of-last-year", "of-this-year", "a<b>1234"])
    for (const form of formsOf(Buffer.from(value))) expect(text).not.toContain(form);
});

/** Bodies of Secrets, as a broken connection or another program on the way leaves them. */
it.for<readonly [string, (body: string) => Uint8Array]>([
  ["cut", (body) => Buffer.from(body.slice(0, body.indexOf("password") + 40))],
  ["no UTF-8", (body) => Buffer.concat([Buffer.from(body.slice(0, -2)), Buffer.of(0xff)])],
  ["with U+FFFD", (body) => Buffer.from(body.replace("login", "log\ufffdin"))],
  ["pretty", (body) => Buffer.from(JSON.stringify(JSON.parse(body), null, 2))],
  ["pretty and cut", (body) => Buffer.from(JSON.stringify(JSON.parse(body), null, 2).slice(0, -4))],
])("has no value of a list of Secrets that is %s", async ([, change]) => {
  const secret = { metadata, data: { password: coded("correct horse battery") } };
  let isChanged = false;
  const getter: OperatorSetup = ({ client, controller }) => {
    return () => [
      controller({
        name: "getter",
        sources: [],
        reconcile: () => {},
      }),
      {
        name: "get",
        run: async (signal) => {
          await client.get(Secret, metadata, { signal }).catch(() => {});
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      },
    ];
  };
  const recording = await record(
    async () => {},
    getter,
    (transport) => ({
      ...transport,
      description: transport.description,
      send: async (request, signal) => {
        const isGet = request.path.includes("/secrets/login");
        if (!isGet) return await transport.send(request, signal);
        isChanged = true;
        const body = change(JSON.stringify({ apiVersion: "v1", kind: "Secret", ...secret }));
        return {
          ...{ status: 200, headers: { "content-type": "application/json" } },
          body: (async function* () {
            yield body;
          })(),
        };
      },
    }),
  );
  expect(isChanged).toBe(true);
  const text = textOf(recording);
  const whole = coded("correct horse battery");
  expect(text).toContain("/secrets/login");
  for (const line of recording.lines()) {
    const { body = "", bytes = "" } = line;
    const seen = `${body}${Buffer.from(`${bytes}`, "base64").toString("latin1")}`;
    expect(seen).not.toContain(whole.slice(0, 12));
  }
});
