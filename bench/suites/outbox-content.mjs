/** What the messages of suites i and l say. */
export const CONTENT = { order: 4_711, paid: 12.5, currency: "EUR", customer: "c-1234567" };

/** Events of a relay that lose nothing. On a busy machine its clock and that of the database seem apart. */
export const HARMLESS = new Set(["claimed", "clock", "listening"]);
