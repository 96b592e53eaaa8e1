import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { differences } from "../../conformance/compare.ts";
import { HookServer } from "../../conformance/hook-server.ts";
import { httpsSend } from "../../conformance/https-send.ts";
import { type Json, normalForm } from "../../conformance/normal-form.ts";
import { prepareServer, untilServed } from "../../conformance/prepare-server.ts";
import { readRecording, writeRecording } from "../../conformance/recordings.ts";
import { bodyText, runScript } from "../../conformance/run-script.ts";
import { callersOf, namespaceOf, type Script, type ScriptRules } from "../../conformance/script.ts";
import { scripts } from "../../conformance/scripts.ts";
import { taskCrd } from "../../conformance/tasks.ts";

const isRecording = process.env["HOLDFAST_RECORD"] === "1";
let server: ApiServer;
/** Decides by roles. */
let strict: ApiServer;
let operatorToken: string;
let hooks: HookServer;

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  strict = await ApiServer.start(undefined, ["--authorization-mode=RBAC"]);
  operatorToken = strict.serviceAccountToken("default", "operator");
  hooks = await HookServer.start();
  const signal = AbortSignal.timeout(60_000);
  await hooks.define(sendAs(server.adminToken), taskCrd, signal);
  for (const one of [server, strict]) await prepareServer(sendAs(one.adminToken, one), signal);
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await strict?.[Symbol.asyncDispose]();
  await hooks?.[Symbol.asyncDispose]();
});

for (const [group, members] of Object.entries(scripts))
  describe(`the real server answers as recorded: ${group}`, () => {
    const made: Record<string, Json> = {};

    for (const script of members)
      ownServerTest(script.name, async () => {
        const signal = AbortSignal.timeout(60_000);
        const answers =
          script.rules === undefined
            ? await runOnServer(script, signal)
            : await runWithRules(script, script.rules, signal);
        const given = normalForm(script, answers);
        if (isRecording) {
          made[script.name] = given;
          return;
        }
        const recorded = readRecording(group)[script.name];
        expect(recorded, "recorded by npm run test:cluster -- --record").toBeDefined();
        expect(differences(recorded ?? null, given)).toEqual([]);
      });

    afterAll(() => {
      if (isRecording && Object.keys(made).length === members.length) writeRecording(group, made);
    });
  });

function sendAs(token: string, { url, ca }: ApiServer = server) {
  return httpsSend({ url, ca, token });
}

async function runOnServer(script: Script, signal: AbortSignal) {
  const admin = sendAs(server.adminToken);
  const callers = { viewer: sendAs(server.viewToken), stranger: sendAs("unknown") };
  const options = { callers, forget: () => forget(signal), signal };
  if (script.webhooks === undefined) return await runScript(admin, script, options);
  await using _configured = await hooks.use(admin, script.webhooks, signal);
  return await runScript(admin, script, { ...options, takeReviews: hooks.takeReviews });
}

/** Runs a script whose callers have a role, for the namespace of the script or for the cluster. */
async function runWithRules(script: Script, rules: readonly ScriptRules[], signal: AbortSignal) {
  const admin = sendAs(strict.adminToken, strict);
  const operator = sendAs(operatorToken, strict);
  const isOfCluster = callersOf(script).has("cluster-bound");
  const scope = isOfCluster ? "Cluster" : "";
  const place = isOfCluster ? "" : `namespaces/${namespaceOf(script)}/`;
  const base = `/apis/rbac.authorization.k8s.io/v1/${place}${scope.toLowerCase()}role`;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const send = async (method: string, path: string, body?: object) => {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const text = body && JSON.stringify(body);
    return JSON.parse(await bodyText(await admin({ method, path, headers, body: text }, signal)));
  };
  const metadata = { name: "script" };
  const role = { apiVersion, kind: `${scope}Role`, metadata, rules };
  const binding = {
    apiVersion,
    kind: `${scope}RoleBinding`,
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${scope}Role`, name: "script" },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "operator" }],
  };
  for (const [path, body] of [
    [`${base}s`, role],
    [`${base}bindings`, binding],
  ] as const) {
    const { uid } = (await send("POST", path, body)).metadata;
    // Roles are read from the server's cache, which is what version 0 asks for.
    const cached = async () => (await send("GET", `${path}/script?resourceVersion=0`)).metadata.uid;
    await poll(async () => (await cached()) === uid, { signal });
  }
  try {
    const callers = { bound: operator, "cluster-bound": operator };
    return await runScript(admin, script, { callers, signal });
  } finally {
    await send("DELETE", `${base}bindings/script`);
  }
}

/** Compacted versions stay in the watch cache of an API server for its lifetime. */
async function forget(signal: AbortSignal): Promise<void> {
  await server.compact();
  await server.restart();
  await untilServed(sendAs(server.adminToken), signal);
}
