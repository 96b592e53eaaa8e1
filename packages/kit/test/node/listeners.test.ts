import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("every server is a bounded one with a test, or one that a demonstration calls", () => {
  const root = new URL("../../../../packages/", import.meta.url);
  const folders = readdirSync(root).flatMap((name) =>
    ["src", "demo", "test"].map((part) => `${name}/${part}`),
  );
  const files = folders
    .filter((folder) => existsSync(new URL(folder, root)))
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    );
  const sources = files.filter((file) => /^[^/]+\/(src|demo)\/.*\.m?[jt]s$/.test(file));
  const textOf = (file: string): string => readFileSync(new URL(file, root), "utf8");
  const having = (...patterns: RegExp[]): string[] =>
    sources.filter((file) => patterns.every((one) => one.test(textOf(file)))).sort();
  const modules = /from "(node:)?(https?|http2|net|tls|dgram)"/;
  const words = /\bcreate(\w*Server|Socket)\(|\bnew (\w+\.)?Server\(/;
  expect(having(modules, words)).toEqual([
    "cli/demo/web.mjs", // what `npm start` supervises
    "cli/src/run/machine/ports.ts", // finds a free port, and closes it at once
    "examples/src/dns-sync/provider/serve-provider.ts", // the DNS provider of `npm run dns-sync`
    "examples/src/grpc-connect/demo/peer.mjs", // a server that fails in every way
    "examples/src/outbox/main.ts", // the receiver of `npm run outbox`
    "kit/src/node/bounded-server.ts",
  ]);
  expect(having(/\bboundedServer[<(]/)).toEqual([
    "fake-apiserver/src/server/http-front.ts",
    "kit/src/node/bounded-server.ts",
    "kit/src/node/serve-live-page.ts",
    "kubernetes/src/operator/health-server.ts",
    "kubernetes/src/webhook/webhook-server.ts", // of TLS: webhook-server.internal.programs.test.ts has its bounds
  ]);
  expect(having(/\bserveLivePage[<(]/)).toEqual([
    "cli/src/run/web/serve.ts",
    "examples/src/dns-sync/page.ts",
    "kit/src/node/serve-live-page.ts",
    "outbox/src/bin/page.ts",
  ]);
  const tests = files.filter((file) => file.endsWith("listeners.programs.test.ts")).sort();
  const rows = tests.flatMap((file) =>
    [...textOf(file).matchAll(/row: "(.*)"/g)].map(([, row]) => row),
  );
  expect(rows).toEqual([
    "the page of `holdfast run`",
    "the page of `npm run dns-sync`",
    "`HealthServer`, `runOperator`",
    "`FakeApi.listen`, for tests",
    "the page of an outbox",
  ]);
});
