import { setTimeout as sleep } from "node:timers/promises";
import { collections, formatCrd, ruleCrd, widgetCrd, zoneCrd } from "./resources.ts";
import { bodyText, type Send } from "./run-script.ts";
import { tableCollections, tableCrds } from "./tables.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates the custom resources of the scripts and waits until the server lists every resource. */
export async function prepareServer(send: Send, signal: AbortSignal): Promise<void> {
  for (const crd of [widgetCrd, zoneCrd, formatCrd, ruleCrd, ...tableCrds]) {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const body = JSON.stringify(crd);
    const response = await send({ method: "POST", path: DEFINITIONS, headers, body }, signal);
    const answer = await bodyText(response);
    if (response.status !== 201 && response.status !== 409) throw new Error(answer);
  }
  await untilServed(send, signal);
}

/** Waits until the server lists every resource of the scripts. */
export async function untilServed(send: Send, signal: AbortSignal): Promise<void> {
  for (const path of [...collections, ...tableCollections]) {
    while (!(await isServed(send, path, signal))) await sleep(50, undefined, { signal });
  }
}

async function isServed(send: Send, path: string, signal: AbortSignal): Promise<boolean> {
  const headers = { accept: "application/json" };
  const response = await send({ method: "GET", path, headers }, signal);
  await bodyText(response);
  return response.status === 200;
}
