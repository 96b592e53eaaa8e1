import type { Script } from "../script.ts";
import { get } from "../steps.ts";

/** The documents by which clients learn the resources of a server. */
export const discovery: readonly Script[] = [
  {
    name: "the versions of the core group are v1",
    steps: [get("/api")],
  },
  {
    name: "the resources of the core group are listed with their verbs",
    steps: [get("/api/v1")],
  },
  {
    name: "the groups are listed with their versions",
    steps: [get("/apis")],
  },
  {
    name: "the resources of a built-in group are listed with their verbs",
    steps: [
      get("/apis/apps/v1"),
      get("/apis/batch/v1"),
      get("/apis/coordination.k8s.io/v1"),
      get("/apis/events.k8s.io/v1"),
      get("/apis/networking.k8s.io/v1"),
      get("/apis/policy/v1"),
    ],
  },
  {
    name: "the resources of a custom group are listed with their verbs and short names",
    steps: [get("/apis/conformance.example.org/v1"), get("/apis/conformance.example.org")],
  },
  {
    name: "the version of the server is a document",
    steps: [get("/version")],
    uncompared: [{ path: "0.body.*", reason: "every server has its own" }],
  },
];
