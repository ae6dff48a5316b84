import type { JsonObject, JsonValue } from '../core/json.ts';
import { parseStrict } from '../core/strict-json.ts';
import type { Typed } from './decision-form.ts';

/** Fields of a form as they were sent. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** The body of a decision, as the API would get it. Throws `VALIDATION_FAILED` where edited arguments are not strict JSON. */
export function decisionBodyOf(fields: Fields): JsonObject {
  const { decision = '', argsDigest = '', note, response = '', editedArgs = '' } = fields;
  const said: JsonObject = { decision, argsDigest, ...noteOf(note) };
  if (decision === 'respond') return { ...said, response: lineFeeds(response) };
  if (decision === 'edit') return { ...said, editedArgs: parseStrict(editedArgs) };
  return said;
}

export const revocationBodyOf = ({ note }: Fields): JsonObject => noteOf(note);

/** What to give back with a refusal: only what belongs to the button that was pressed opens its part of the form. */
export function typedIn({ decision, version, note, response, editedArgs }: Fields): Typed {
  return {
    ...(version !== undefined && { version }),
    ...(note !== undefined && { note }),
    ...(decision === 'respond' && response !== undefined && { response }),
    ...(decision === 'edit' && editedArgs !== undefined && { editedArgs }),
  };
}

/** An empty field is no note. */
const noteOf = (note: string | undefined): { note?: JsonValue } => (note ? { note: lineFeeds(note) } : {});

/** Browsers send every line break of a text field as CR LF, whatever was typed. */
const lineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');
