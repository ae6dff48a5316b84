/** A JSON value as the strict parser hands it on: no `undefined`, no number that a double would change. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

export interface JsonObject {
  [member: string]: JsonValue;
}
