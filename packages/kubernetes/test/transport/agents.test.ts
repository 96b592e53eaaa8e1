import type { Agent as HttpsAgent } from "node:https";
import { describe, expect, it } from "vitest";
import { newAgent } from "../../src/transport/agents.ts";

describe("newAgent", () => {
  it("names its connections by the server alone, however long the certificates", () => {
    const parts = { ca: "-----BEGIN CERTIFICATE-----".repeat(1_000), servername: "api" };
    const server = new URL("https://127.0.0.1:6443");
    const agent = newAgent(server, parts) as HttpsAgent;
    expect(agent.options).toMatchObject(parts);
    expect(agent.getName({ host: server.hostname, ...parts })).toBe("127.0.0.1:6443");
  });
});
