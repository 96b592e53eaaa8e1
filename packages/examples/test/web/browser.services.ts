import { testOutboxPage } from "../outbox/web/test-outbox-page.ts";
import { testProgram } from "../supervisor/test-program.ts";
import { testPage } from "../supervisor/web/test-page.ts";
import { useBrowser } from "./browser.ts";

// One browser for all: to start another takes more of the machine than most of these tests.
useBrowser();
testProgram();
testPage();
testOutboxPage();
