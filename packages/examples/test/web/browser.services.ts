import { testOutboxPage } from "../outbox/web/test-outbox-page.ts";
import { useBrowser } from "./browser.ts";

// One browser for all: to start another takes more of the machine than most of these tests.
useBrowser();
testOutboxPage();
