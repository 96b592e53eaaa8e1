import { expect } from "vitest";

// A setup file is of all packages. The others do not load this one's sources.
if (expect.getState().testPath?.includes("packages/kubernetes/test/")) {
  const { searchSecrets } = await import("./search-secrets.ts");
  await searchSecrets();
}
