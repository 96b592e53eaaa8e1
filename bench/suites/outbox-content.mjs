/** What the messages of suite i say. */
export const CONTENT = { order: 4_711, paid: 12.5, currency: "EUR", customer: "c-1234567" };
