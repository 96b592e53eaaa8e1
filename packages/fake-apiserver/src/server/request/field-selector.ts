import { type JsonObject, valueAt } from "../../object/json.ts";
import { SelectorError } from "./label-selector.ts";

/** Reads the value of a selectable field, as text. */
export type FieldReader = (object: JsonObject) => string;

/** Whether an object meets a condition. */
type FieldRequirement = (object: JsonObject) => boolean;

/**
 * Reads `fieldSelector` as apimachinery does: `field=value`, `field==value` or `field!=value`, separated by commas. A
 * backslash escapes a comma, an equals sign or itself in a value.
 *
 * @param readerOf - reader of a field; throws a SelectorError for one that is not selectable
 * @throws SelectorError for other text
 */
export function parseFieldSelector(
  text: string,
  readerOf: (field: string) => FieldReader,
): FieldRequirement[] {
  const parts = text.match(/(?:\\[\s\S]?|[^\\,])+/g) ?? [];
  return parts.map((part) => {
    const match = /^((?:[^=!]|!(?!=))*)(==|!=|=)([\s\S]*)$/.exec(part);
    if (match === null)
      throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = "", operator, escaped = ""] = match;
    const value = unescaped(escaped);
    const read = readerOf(field);
    return operator === "!="
      ? (object) => read(object) !== value
      : (object) => read(object) === value;
  });
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S]?)|=/g, (part, letter: string | undefined) => {
    if (letter === undefined)
      throw new SelectorError(
        `invalid field selector: unescaped character in value: ${part.charCodeAt(0)}`,
      );
    if (letter === "" || !"\\,=".includes(letter))
      throw new SelectorError(`invalid field selector: invalid escape sequence: ${part}`);
    return letter;
  });
}

/** A reader of the field at a path. A field that is not there has the text `absent`. */
export function fieldAt(path: string, absent = ""): FieldReader {
  const names = path.split(".");
  return (object) => String(valueAt(object, names) ?? absent);
}
