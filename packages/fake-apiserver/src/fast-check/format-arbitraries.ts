import * as fc from "fast-check";

const number = (maximum: number) => fc.nat({ max: maximum });
const like = (pattern: RegExp) => fc.stringMatching(pattern);
const time = fc
  .date({
    min: new Date("1970-01-01T00:00:00Z"),
    max: new Date("2099-12-31T00:00:00Z"),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString());
const ISBN_10 = ["0306406152", "0-19-853453-1", "080442957X"];
const ISBN_13 = ["9780306406157", "978-3-16-148410-0"];

/** Texts of the formats that a server checks. */
export const FORMAT_ARBITRARIES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  bsonobjectid: like(/^[0-9a-f]{24}$/),
  byte: fc.base64String({ minLength: 4, maxLength: 40 }),
  cidr: fc.tuple(fc.ipV4(), number(32)).map(([address, length]) => `${address}/${length}`),
  creditcard: fc.constantFrom("4111111111111111", "5500005555555559", "340000000000009"),
  date: time.map((text) => text.slice(0, 10)),
  "date-time": time,
  datetime: time,
  duration: fc
    .array(fc.tuple(number(100), fc.constantFrom("h", "m", "s", "ms")), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => parts.map(([count, unit]) => `${count}${unit}`).join("")),
  email: fc.emailAddress(),
  hexcolor: like(/^#[0-9a-f]{6}$/),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  isbn: fc.constantFrom(...ISBN_10, ...ISBN_13),
  isbn10: fc.constantFrom(...ISBN_10),
  isbn13: fc.constantFrom(...ISBN_13),
  "k8s-long-name": like(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]([a-z0-9-]{0,8}[a-z0-9])?){0,2}$/),
  "k8s-short-name": like(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/),
  mac: like(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
  rgbcolor: fc
    .tuple(number(255), number(255), number(255))
    .map((parts) => `rgb(${parts.join(", ")})`),
  ssn: like(/^\d{3}-\d{2}-\d{4}$/),
  // Takes a second of CPU the first time.
  get uri() {
    return fc.webUrl();
  },
  uuid: fc.uuid(),
  uuid3: fc.uuid({ version: 3 }),
  uuid4: fc.uuid({ version: 4 }),
  uuid5: fc.uuid({ version: 5 }),
};
