import { paths } from "../resources.ts";
import type { Script } from "../script.ts";
import { configMap, get, mergePatch, post, put, remove, watch, widget } from "../steps.ts";

const { configMaps, widgets, secrets } = paths;

/** Requests that fail before they reach an object. */
export const errors: readonly Script[] = [
  {
    name: "a path that no resource has is 404",
    steps: [
      get("/api/v1/namespaces/$(namespace)/nothings"),
      get("/apis/none.example.org/v1/nothings"),
      get("/apis/conformance.example.org/v9/widgets"),
      get(`${configMaps}/a/nothing`),
      get(`${widgets}/a/scale`),
    ],
  },
  {
    name: "a method that a path does not have is 405, or 400 for a custom resource",
    steps: [
      post(`${configMaps}/a`, configMap("a")),
      put(configMaps, configMap("a")),
      mergePatch(configMaps, {}),
      put(widgets, widget("a")),
      mergePatch(widgets, {}),
    ],
  },
  {
    name: "methods besides those of the API are 405, HEAD is a get of custom resources",
    steps: [
      post(widgets, widget("a")),
      post(configMaps, configMap("a")),
      ...[widgets, `${widgets}/a`, configMaps, `${configMaps}/a`].flatMap((path) => [
        { method: "HEAD", path } as const,
        { method: "OPTIONS", path } as const,
        { method: "TRACE", path } as const,
      ]),
      { method: "HEAD", path: `${widgets}/none` },
      { method: "OPTIONS", path: "/apis" },
      { method: "TRACE", path: "/version" },
    ],
  },
  {
    name: "a post to an object creates one, if the resource is a custom one",
    steps: [
      post(widgets, widget("a")),
      post(`${widgets}/a`, widget("a")),
      post(`${widgets}/a`, widget("b")),
      post(`${widgets}/c`, widget("c")),
      post(`${widgets}/a/status`, widget("a")),
      remove(`${widgets}/a/status`),
      post(`${configMaps}/a`, configMap("a")),
    ],
  },
  {
    name: "a body that is no JSON or no object is 400",
    steps: [
      post(configMaps, "{"),
      post(configMaps, ""),
      post(configMaps, []),
      post(configMaps, "text"),
      post(widgets, "{"),
      post(widgets, { apiVersion: "conformance.example.org/v1" }),
      mergePatch(`${configMaps}/a`, "{"),
    ],
  },
  {
    name: "a body of another kind is 400",
    steps: [
      post(configMaps, widget("a")),
      post(configMaps, { ...configMap("a"), kind: "Secret" }),
      post(widgets, configMap("a")),
    ],
  },
  {
    name: "a body of another media type is 415",
    steps: [post(configMaps, configMap("a"), { contentType: "text/plain" })],
  },
  {
    name: "a field of another type is 400",
    steps: [
      post(configMaps, { ...configMap("a"), data: { text: 1 } }),
      post(configMaps, { ...configMap("a"), data: "text" }),
      post(configMaps, { ...configMap("a"), metadata: "a" }),
      post(secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
        data: { text: "not base64" },
      }),
    ],
  },
  {
    name: "a caller without a known token is 401",
    steps: [
      get(configMaps, { as: "stranger" }),
      post(configMaps, configMap("a"), { as: "stranger" }),
      watch(configMaps, { take: 1 }, {}, { as: "stranger" }),
    ],
    uncompared: [
      { path: "2", reason: "the fake server in memory asks for no token", on: "fake" },
      { path: "1", reason: "the fake server in memory asks for no token", on: "fake" },
      { path: "0", reason: "the fake server in memory asks for no token", on: "fake" },
    ],
  },
  {
    name: "a caller who may only read is 403 for every write",
    steps: [
      get(configMaps, { as: "viewer" }),
      post(configMaps, configMap("a"), { as: "viewer" }),
      put(`${configMaps}/a`, configMap("a"), { as: "viewer" }),
      mergePatch(`${widgets}/a`, {}, { as: "viewer" }),
      mergePatch(`${widgets}/a/status`, {}, { as: "viewer" }),
      remove(`${widgets}/a`, undefined, { as: "viewer" }),
    ],
    uncompared: [
      { path: "1", reason: "the fake server has other rights", on: "fake" },
      { path: "2", reason: "the fake server has other rights", on: "fake" },
      { path: "3", reason: "the fake server has other rights", on: "fake" },
      { path: "4", reason: "the fake server has other rights", on: "fake" },
      { path: "5", reason: "the fake server has other rights", on: "fake" },
      { path: "0.body.metadata.resourceVersion", reason: "nothing to relate it to", on: "fake" },
    ],
  },
];
