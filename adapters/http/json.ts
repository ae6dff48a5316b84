import { Buffer } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { CountersignError } from '../../core/errors.ts';
import type { JsonValue } from '../../core/json.ts';
import { parseStrict } from '../../core/strict-json.ts';

/** Bytes of a body, before it is read. */
export const maxBodyBytes = 1024 * 1024;

type BodyOf = Pick<APIGatewayProxyEventV2, 'headers' | 'body' | 'isBase64Encoded'>;

/**
 * The body as a JSON value, every number and key as it was sent. Throws `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, or
 * `VALIDATION_FAILED` with the place of the first fault.
 */
export function jsonBody(event: BodyOf): JsonValue {
  requireJson(event.headers['content-type']);
  return parseStrict(textOf(event));
}

/** As {@link jsonBody}, for routes whose body says nothing that is needed: none at all is `{}`. */
export const jsonBodyOrNone = (event: BodyOf): JsonValue => (event.body ? jsonBody(event) : {});

function requireJson(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (type === 'application/json' && (charset === undefined || charset.replaceAll('"', '') === 'utf-8')) return;
  throw new CountersignError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body must be application/json in UTF-8; ${contentType === undefined ? 'no content type was given' : 'another content type was given'}.`,
  );
}

function textOf({ body = '', isBase64Encoded }: BodyOf): string {
  const bytes = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes > maxBodyBytes)
    throw new CountersignError(
      'PAYLOAD_TOO_LARGE',
      `The body has ${bytes} bytes; at most ${maxBodyBytes} are allowed.`,
      { limit: maxBodyBytes },
    );
  return isBase64Encoded ? utf8(Buffer.from(body, 'base64')) : body;
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CountersignError('VALIDATION_FAILED', 'The body is not UTF-8.');
  }
}
