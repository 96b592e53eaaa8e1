import { testProgram } from "./test-program.ts";
import { useBrowser } from "./web/browser.ts";
import { testPage } from "./web/test-page.ts";

// One browser for all: to start another takes more of the machine than most of these tests.
useBrowser();
testProgram();
testPage();
