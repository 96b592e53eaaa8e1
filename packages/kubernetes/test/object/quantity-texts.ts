import fc from "fast-check";

const digits = fc.stringMatching(/^\d{1,12}$/);

/** Texts of quantities that a server takes, some of them not canonical. */
export const quantityTexts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("", "", "-", "+"),
    fc.oneof(
      digits,
      fc.tuple(digits, digits).map((parts) => parts.join(".")),
    ),
    fc.constantFrom(
      ...["", "n", "u", "m", "k", "M", "G", "T", "P", "E"],
      ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e-4", "e5", "E7", "e+12", "e-11"],
    ),
  )
  .map((parts) => parts.join(""));
