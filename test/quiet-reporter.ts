import { DefaultReporter, type TestCase, type TestModule } from "vitest/node";

/** Reports failures whole, and on a terminal the progress; what passes has no line. */
export class QuietReporter extends DefaultReporter {
  override printTestModule(module: TestModule): void {
    if (module.state() === "failed") super.printTestModule(module);
  }

  override printTestCase(moduleState: "failed" | string, test: TestCase): void {
    if (test.result().state === "failed") super.printTestCase(moduleState as never, test);
  }
}
