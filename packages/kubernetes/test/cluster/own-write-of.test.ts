import { builtIn, type Resource } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import type { ClientWrite } from "../../src/client/client-write.ts";
import { ownWriteOf } from "../../src/cluster/own-write-of.ts";

const Deployment: Resource = builtIn("apps/v1", "Deployment");
const Namespace: Resource = builtIn("v1", "Namespace");

const response = (resource: Resource, metadata: object = {}, more: object = {}) => ({
  apiVersion: resource.apiVersion,
  kind: resource.kind,
  metadata: { namespace: "default", name: "web", uid: "u1", resourceVersion: "7", ...metadata },
  ...more,
});
const status = { apiVersion: "v1", kind: "Status", status: "Success", details: { uid: "u1" } };
const deleted = { deletionTimestamp: "2000-01-01T00:00:00Z" };
const finalizers = ["example.org/cleanup"];

type Row = [name: string, write: Partial<ClientWrite>, expected: "stored" | "gone" | undefined];

const rows: Row[] = [
  ["an update", {}, "stored"],
  ["a status", { subresource: "status" }, "stored"],
  ["a dry run", { dryRun: true }, undefined],
  [
    "a scale",
    {
      subresource: "scale",
      response: { ...response(Deployment), apiVersion: "autoscaling/v1", kind: "Scale" },
    },
    undefined,
  ],
  [
    "another version of the kind",
    { response: { ...response(Deployment), apiVersion: "apps/v2" } },
    undefined,
  ],
  ["a Status of a deletion", { verb: "delete", response: status }, "gone"],
  ["a Status without a UID", { verb: "delete", response: status, uid: undefined }, undefined],
  ["a Status of something else", { verb: "create", response: status }, undefined],
  ["the last state of a deletion", { verb: "delete" }, "gone"],
  [
    "a deletion that waits for a finalizer",
    { verb: "delete", response: response(Deployment, { ...deleted, finalizers }) },
    "stored",
  ],
  [
    "a deletion that waits for its grace period",
    {
      verb: "delete",
      response: response(Deployment, { ...deleted, deletionGracePeriodSeconds: 30 }),
    },
    "stored",
  ],
  [
    "a deletion whose grace period is 0",
    {
      verb: "delete",
      response: response(Deployment, { ...deleted, deletionGracePeriodSeconds: 0 }),
    },
    "gone",
  ],
  [
    "a patch that removes the last finalizer",
    { verb: "patch", response: response(Deployment, deleted) },
    "gone",
  ],
  [
    "a patch of a namespace that is being emptied",
    {
      verb: "patch",
      resource: Namespace,
      response: response(Namespace, deleted, { spec: { finalizers: ["kubernetes"] } }),
    },
    "stored",
  ],
];

it.each(rows)("the response of %s", (_, write, expected) => {
  const own = ownWriteOf({
    resource: Deployment,
    verb: "update",
    ref: { namespace: "default", name: "web" },
    ...{
      subresource: undefined,
      dryRun: false,
      response: response(Deployment),
      uid: "u1",
      ...write,
    },
  });
  expect(own?.type).toBe(expected);
  if (own?.type === "gone")
    expect([own.uid, own.name.namespace, own.name.name]).toEqual(["u1", "default", "web"]);
});
