import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import {
  CEL_PATH,
  celCrd,
  celObject,
  celVerdicts,
  outcomeOf,
} from "../../conformance/cel-verdicts.ts";
import { crdFields } from "../../conformance/crd-fields.ts";
import { definitions } from "../../conformance/definitions.ts";
import { httpsSend } from "../../conformance/https-send.ts";
import { bodyText } from "../../conformance/run-script.ts";

const PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";

let server: ApiServer;

beforeAll(async () => {
  if (isOwnServer) server = await ApiServer.start();
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

ownServerTest("the types of a definition have the recorded fields", async () => {
  const send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
  const path = "/openapi/v3/apis/apiextensions.k8s.io/v1";
  const headers = { accept: "application/json" };
  const response = await send({ method: "GET", path, headers }, AbortSignal.timeout(60_000));
  const { schemas } = JSON.parse(await bodyText(response)).components;
  const group = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
  for (const [type, fields] of Object.entries(crdFields))
    expect([type, Object.keys(schemas[`${group}.${type}`].properties).join(" ")]).toEqual([
      type,
      fields,
    ]);
});

for (const [name, isAccepted, crd] of definitions)
  ownServerTest(`a definition with ${name}: accepted is ${isAccepted}`, async () => {
    const send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
    const headers = { accept: "application/json", "content-type": "application/json" };
    const request = { method: "POST", path: PATH, headers, body: JSON.stringify(crd) } as const;
    const response = await send(request, AbortSignal.timeout(60_000));
    const answer = await bodyText(response);
    expect([response.status === 201, answer]).toEqual([isAccepted, answer]);
  });

async function post(path: string, body: object) {
  const send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
  const headers = { accept: "application/json", "content-type": "application/json" };
  const request = { method: "POST", path, headers, body: JSON.stringify(body) } as const;
  const response = await send(request, AbortSignal.timeout(60_000));
  return { status: response.status, text: await bodyText(response) };
}

ownServerTest("expressions in CEL have the recorded outcomes", async () => {
  const all = Object.entries(celVerdicts);
  const refused = new Set<string>();
  for (const [expression] of all)
    if ((await post(PATH, celCrd([expression]))).status !== 201) refused.add(expression);
  const taken = all.map(([expression]) => expression).filter((one) => !refused.has(one));
  expect((await post(PATH.replace(/\?.*/, ""), celCrd(taken))).status).toBe(201);
  let answer = await post(CEL_PATH, celObject(taken));
  while (answer.status === 404) {
    await sleep(100);
    answer = await post(CEL_PATH, celObject(taken));
  }
  const body: unknown = JSON.parse(answer.text);
  const given = all.map(([expression]) => [
    expression,
    refused.has(expression) ? "refused" : outcomeOf(body, taken.indexOf(expression)),
  ]);
  expect(Object.fromEntries(given)).toEqual(celVerdicts);
});
