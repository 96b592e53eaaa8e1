import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { fromKubectl, type KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { expectNoSecret, quietLogger, SECRET, safeErrorOf, TOKEN } from "../secrets.ts";
import { answer, type TestServer, testServer } from "./test-server.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A program in place of kubectl: prints what it is told to, and notes its arguments. */
function fakeKubectl() {
  const directory = mkdtempSync(join(tmpdir(), "kubectl-"));
  const file = (name: string) => join(directory, name);
  const script = `#!/bin/sh
cd '${directory}'
echo "$*" >> calls
if [ -f stderr ]; then cat view; cat stderr >&2; exit 1; fi
case "$1" in config) cat view ;; create) cat token ;; esac
`;
  writeFileSync(file("kubectl"), script);
  chmodSync(file("kubectl"), 0o755);
  return {
    kubectl: file("kubectl"),
    say: (name: "view" | "token" | "stderr", text: string) => writeFileSync(file(name), text),
    calls: () => readFileSync(file("calls"), "utf8").trim().split("\n"),
    file,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

/** The output of `kubectl config view` for a server, in JSON. */
function view({ url }: Pick<TestServer, "url">, user: object, cluster: object = {}): string {
  const ca = base64(certificates.ca);
  return JSON.stringify({
    kind: "Config",
    clusters: [
      { name: "c", cluster: { server: url, "certificate-authority-data": ca, ...cluster } },
    ],
    users: [{ name: "u", user }],
    contexts: [{ name: "dev", context: { cluster: "c", user: "u", namespace: "team-a" } }],
    "current-context": "dev",
  });
}

async function send(transport: KubeTransport): Promise<number> {
  const request = { method: "GET", path: "/version", headers: {} };
  const { status, body } = await transport.send(request, new AbortController().signal);
  await readBody(body, 1_000, "test");
  return status;
}

const serve = () => testServer((_, response) => answer(response, 200, {}), certificates.server);
const VIEW = "config view --raw --minify --flatten -o json";

describe("fromKubectl", () => {
  it("uses the current context of kubectl", async () => {
    using program = fakeKubectl();
    await using server = await serve();
    program.say("view", view(server, { token: TOKEN }));
    const transport = fromKubectl({ kubectl: program.kubectl });
    expect(transport.namespace).toBe("team-a");
    expect(transport.description).toBe(`${server.url} (kubectl context dev)`);
    expect([await send(transport), await send(transport)]).toEqual([200, 200]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(program.calls()).toEqual([VIEW]);
    expectNoSecret(transport);
    await transport.closeIdle?.();
  });

  it("uses the namespace default if the context has none, like kubectl", () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://a" }, {}).replace(/,"namespace":"team-a"/, ""));
    expect(fromKubectl({ kubectl: program.kubectl }).namespace).toBe("default");
  });

  it("uses a context by its name, and its client certificate", async () => {
    using program = fakeKubectl();
    const names: unknown[] = [];
    await using server = await testServer(
      (_, response) => {
        const socket = response.socket as import("node:tls").TLSSocket;
        names.push(socket.getPeerCertificate().subject.CN);
        answer(response, 200, {});
      },
      { ...certificates.server, ca: certificates.ca, requestCert: true },
    );
    const { cert, key } = certificates.client;
    const user = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    program.say("view", view(server, user));
    expect(await send(fromKubectl({ kubectl: program.kubectl, context: "dev" }))).toBe(200);
    expect(names).toEqual(["ann"]);
    expect(program.calls()).toEqual([`${VIEW} --context=dev`]);
  });

  it("impersonates the user of the kubeconfig, as kubectl does", async () => {
    using program = fakeKubectl();
    await using server = await serve();
    const user = {
      token: TOKEN,
      as: "nobody",
      "as-uid": "7",
      "as-groups": ["readers", "auditors"],
      "as-user-extra": { "example.org/scope": ["a", "b"], Reason: ["drill"] },
    };
    program.say("view", view(server, user));
    await send(fromKubectl({ kubectl: program.kubectl }));
    const { headers } = server.requests[0] ?? {};
    expect(headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      "impersonate-user": "nobody",
      "impersonate-uid": "7",
      "impersonate-group": "readers, auditors",
      "impersonate-extra-example.org%2fscope": "a, b",
      "impersonate-extra-reason": "drill",
    });
  });

  it("impersonates nobody with the token of a service account", async () => {
    using program = fakeKubectl();
    await using server = await serve();
    program.say("view", view(server, { token: "admin", as: "nobody" }));
    program.say("token", TOKEN);
    await send(fromKubectl({ kubectl: program.kubectl, serviceAccount: "jobs/janitor" }));
    expect(server.requests[0]?.headers["impersonate-user"]).toBeUndefined();
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("refuses impersonation that it cannot read", () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://a" }, { token: TOKEN, "as-groups": "readers" }));
    expect(() => fromKubectl({ kubectl: program.kubectl })).toThrow(
      "as-groups of the kubeconfig's user must be a list of texts",
    );
  });

  it("asks kubectl again after a 401", async () => {
    using program = fakeKubectl();
    await using server = await testServer(({ headers }, response) => {
      program.say("view", view(server, { token: TOKEN }));
      answer(response, headers.authorization === `Bearer ${TOKEN}` ? 200 : 401, {});
    }, certificates.server);
    program.say("view", view(server, { token: "old" }));
    expect(await send(fromKubectl({ kubectl: program.kubectl }))).toBe(200);
    expect(program.calls()).toEqual([VIEW, `${VIEW} --context=dev`]);
  });

  it("reads a token file, again after 30 minutes, and names it when it is missing, empty or above 1 MB", async () => {
    using program = fakeKubectl();
    const clock = new FakeClock();
    await using server = await serve();
    const tokenFile = program.file("token");
    program.say("token", "one\n");
    program.say("view", view(server, { tokenFile }));
    const { kubectl } = program;
    const transport = fromKubectl({ kubectl, clock, logger: quietLogger() });
    await send(transport);
    program.say("token", "two\n");
    await clock.step(1_799_999);
    await send(transport);
    await clock.step(1);
    await send(transport);
    const tokens = server.requests.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
    await transport.closeIdle?.();
    program.say("token", "\n");
    expect((await safeErrorOf(send(fromKubectl({ kubectl })))).message).toBe(
      `${tokenFile} is empty: check tokenFile of the kubeconfig`,
    );
    program.say("token", "x".repeat(1_000_001));
    expect((await safeErrorOf(send(fromKubectl({ kubectl })))).message).toBe(
      `${tokenFile} cannot be read (EFBIG): check tokenFile of the kubeconfig`,
    );
    rmSync(tokenFile);
    expect((await safeErrorOf(send(fromKubectl({ kubectl })))).message).toBe(
      `${tokenFile} cannot be read (ENOENT): check tokenFile of the kubeconfig`,
    );
  });

  const plugin = { exec: { command: "aws-iam", apiVersion: "client.authentication.k8s.io/v1" } };

  it("creates tokens of a service account if a plugin provides the credentials", async () => {
    using program = fakeKubectl();
    await using server = await serve();
    program.say("view", view(server, plugin));
    program.say("token", `${TOKEN}\n`);
    const { kubectl } = program;
    const transport = fromKubectl({ kubectl, context: "dev", serviceAccount: "team-a/greeter" });
    expect(await send(transport)).toBe(200);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(program.calls()[1]).toBe(
      "create token greeter --namespace=team-a --duration=1h --context=dev",
    );
  });

  it("repeats the error of kubectl where it creates no token", async () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://127.0.0.1:1" }, plugin));
    const { kubectl } = program;
    const transport = fromKubectl({ kubectl, serviceAccount: "team-a/greeter" });
    program.say("stderr", "error: no such service account");
    expect((await safeErrorOf(send(transport))).message).toContain(
      "failed: error: no such service account",
    );
    program.say("stderr", "");
    expect((await safeErrorOf(send(transport))).message).toContain("failed: it printed no message");
  });

  it("names a kubectl that is gone when a token is due", async () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://127.0.0.1:1" }, plugin));
    const { kubectl } = program;
    const transport = fromKubectl({ kubectl, serviceAccount: "team-a/greeter" });
    rmSync(kubectl);
    expect((await safeErrorOf(send(transport))).message).toContain(
      `${kubectl} was not found: install kubectl, or check PATH`,
    );
  });

  it("names an output that is too large, and stops kubectl", async () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://127.0.0.1:1" }, plugin));
    const { kubectl } = program;
    const transport = fromKubectl({ kubectl, serviceAccount: "team-a/greeter" });
    writeFileSync(kubectl, "#!/bin/sh\nexec yes\n");
    const tooMuch = /failed: it printed more than 16 MiB$/;
    expect((await safeErrorOf(send(transport))).message).toMatch(tooMuch);
    expect(() => fromKubectl({ kubectl })).toThrow(tooMuch);
  });

  it("needs no user and no current context where the server asks for none", async () => {
    using program = fakeKubectl();
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const contexts = [{ name: "dev", context: { cluster: "c" } }];
    const clusters = [{ name: "c", cluster: { server: server.url } }];
    program.say("view", JSON.stringify({ kind: "Config", clusters, contexts }));
    const transport = fromKubectl({ kubectl: program.kubectl });
    expect(await send(transport)).toBe(200);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    await transport.closeIdle?.();
  });

  it("fails where kubectl cannot be run", () => {
    using program = fakeKubectl();
    chmodSync(program.kubectl, 0o644);
    expect(() => fromKubectl({ kubectl: program.kubectl })).toThrow("it printed no message");
  });

  it("names the next step if a plugin provides the credentials", () => {
    using program = fakeKubectl();
    program.say("view", view({ url: "https://a" }, plugin));
    expect(() => fromKubectl({ kubectl: program.kubectl })).toThrow(
      'the plugin "aws-iam" provides the credentials of context "dev": pass serviceAccount, or use atUrl() and kubectl proxy, or fromKubeConfig() and @kubernetes/client-node',
    );
  });

  it("logs once that the kubeconfig turns verification of TLS off", async () => {
    using program = fakeKubectl();
    const logger = quietLogger();
    await using server = await serve();
    const cluster = {
      "certificate-authority-data": undefined,
      "insecure-skip-tls-verify": true,
      "tls-server-name": "elsewhere.test",
    };
    program.say("view", view(server, { token: TOKEN }, cluster));
    const transport = fromKubectl({ kubectl: program.kubectl, logger });
    expect([await send(transport), await send(transport)]).toEqual([200, 200]);
    expect(logger.lines).toEqual([
      `warn: TLS verification is off: the kubeconfig disables it { server: '${server.url}' }`,
    ]);
    await transport.closeIdle?.();
  });

  it("repeats the error of kubectl, but none of its output", () => {
    using program = fakeKubectl();
    program.say("view", SECRET);
    program.say("stderr", "error: current-context must exist in order to minify\n");
    const { kubectl } = program;
    expect(() => fromKubectl({ kubectl })).toThrow(
      `"${kubectl} ${VIEW}" failed: error: current-context must exist in order to minify; see "kubectl config get-contexts", and choose with "kubectl config use-context"`,
    );
    program.say("stderr", "Unable to connect to the server\n");
    expect(() => fromKubectl({ kubectl })).toThrow(
      new Error(`"${kubectl} ${VIEW}" failed: Unable to connect to the server`),
    );
  });

  it.each([
    ["no JSON", TOKEN, "kubectl config view printed no JSON: check the version of kubectl"],
    ["null", "null", "the kubeconfig must have a current context with a cluster"],
    ["no context", '{"contexts":null,"clusters":[]}', "the kubeconfig must have a current context"],
    [
      "a proxy",
      view({ url: "https://a" }, {}, { "proxy-url": "http://b" }),
      "does not support a proxy",
    ],
    [
      "a CA that is not used",
      view(
        { url: "https://a" },
        {},
        {
          "certificate-authority-data": "YQ==",
          "insecure-skip-tls-verify": true,
        },
      ),
      "the kubeconfig has a certificate authority and insecure-skip-tls-verify: remove one",
    ],
    [
      "a password",
      view({ url: "https://a" }, { username: "a", password: TOKEN }),
      "or a password in the kubeconfig",
    ],
    [
      "an address with a password",
      view({ url: `https://a:${TOKEN}@b` }, {}),
      "server of the kubeconfig's cluster must not contain a user or a password, got one for b",
    ],
  ])("refuses output with %s", (_, output, message) => {
    using program = fakeKubectl();
    program.say("view", output);
    let error: unknown;
    try {
      fromKubectl({ kubectl: program.kubectl });
    } catch (caught) {
      error = caught;
    }
    expectNoSecret(error);
    expect(String(error)).toContain(message);
  });

  it("reports that kubectl is missing", () => {
    expect(() => fromKubectl({ kubectl: "/nowhere/kubectl" })).toThrow(
      "/nowhere/kubectl was not found: install kubectl, or check PATH",
    );
  });
});

it.runIf(process.platform === "linux")("gives kubectl the terminal, if there is one", async () => {
  using program = fakeKubectl();
  await using server = await serve();
  const exec = { command: "login", apiVersion: "client.authentication.k8s.io/v1" };
  program.say("view", view(server, { exec }));
  program.say("token", TOKEN);
  const input = `/proc/self/fd/0`;
  const script = readFileSync(program.kubectl, "utf8");
  writeFileSync(program.kubectl, script.replace("echo", `readlink ${input} >> inputs\necho`));
  const terminal = Object.getOwnPropertyDescriptor(process.stdin, "isTTY");
  try {
    for (const isTTY of [false, true]) {
      Object.defineProperty(process.stdin, "isTTY", { value: isTTY, configurable: true });
      await send(fromKubectl({ kubectl: program.kubectl, serviceAccount: "team-a/greeter" }));
    }
  } finally {
    if (terminal === undefined) Reflect.deleteProperty(process.stdin, "isTTY");
    else Object.defineProperty(process.stdin, "isTTY", terminal);
  }
  const own = readlinkSync(input);
  const inputs = readFileSync(program.file("inputs"), "utf8").trim().split("\n");
  expect(inputs).toEqual(["/dev/null", "/dev/null", own, own]);
});
