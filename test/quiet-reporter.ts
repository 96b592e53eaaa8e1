import { DefaultReporter, type TestModule } from "vitest/node";

/** Reports failures whole, and on a terminal the progress; a file that passes has no line. */
export class QuietReporter extends DefaultReporter {
  override printTestModule(module: TestModule): void {
    if (module.state() === "failed") super.printTestModule(module);
  }
}
