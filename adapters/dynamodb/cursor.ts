import * as z from 'zod';
import { CountersignError } from '../../core/errors.ts';

/** What keys consist of; anything else DynamoDB would refuse with an error of its own. */
export const instantInKey = z.iso.datetime({ precision: 3 });
export const requestIdInKey = z.string().regex(/^[\w-]{1,64}$/);

/** Opaque to whoever carries it: base64url over JSON. It names keys, never content. */
export const encodeCursor = (position: unknown): string => Buffer.from(JSON.stringify(position)).toString('base64url');

/** Throws `VALIDATION_FAILED` for anything that this list, asked like this, would not have handed out. */
export function decodeCursor<Schema extends z.ZodType>(schema: Schema, cursor: string): z.infer<Schema> {
  try {
    const text = Buffer.from(cursor, 'base64url');
    if (text.toString('base64url') !== cursor) throw new SyntaxError('not base64url');
    return schema.parse(JSON.parse(text.toString('utf8')));
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    throw new CountersignError(
      'VALIDATION_FAILED',
      'cursor is not one that this list handed out; leave it away to begin at the start.',
    );
  }
}
