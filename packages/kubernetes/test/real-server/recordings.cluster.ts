import { afterAll, beforeAll, describe, expect } from "vitest";
import { differences } from "../../../../conformance/kubernetes/compare.ts";
import { httpsSend } from "../../../../conformance/kubernetes/https-send.ts";
import { type Json, normalForm } from "../../../../conformance/kubernetes/normal-form.ts";
import { prepareServer, untilServed } from "../../../../conformance/kubernetes/prepare-server.ts";
import { readRecording, writeRecording } from "../../../../conformance/kubernetes/recordings.ts";
import { runScript } from "../../../../conformance/kubernetes/run-script.ts";
import { scripts } from "../../../../conformance/kubernetes/scripts.ts";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";

const isRecording = process.env["HOLDFAST_RECORD"] === "1";
let server: ApiServer;

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  await prepareServer(sendAs(server.adminToken), AbortSignal.timeout(60_000));
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

for (const [group, members] of Object.entries(scripts))
  describe(`the real server answers as recorded: ${group}`, () => {
    const made: Record<string, Json> = {};

    for (const script of members)
      ownServerTest(script.name, async () => {
        const signal = AbortSignal.timeout(60_000);
        const answers = await runScript(sendAs(server.adminToken), script, {
          callers: { viewer: sendAs(server.viewToken), stranger: sendAs("unknown") },
          forget: () => forget(signal),
          signal,
        });
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

function sendAs(token: string) {
  return httpsSend({ url: server.url, ca: server.ca, token });
}

/** Compacted versions stay in the watch cache of an API server for its lifetime. */
async function forget(signal: AbortSignal): Promise<void> {
  await server.compact();
  await server.restart();
  await untilServed(sendAs(server.adminToken), signal);
}
