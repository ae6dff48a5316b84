import { describe, expect, test } from 'vitest';
import { jsonBody, jsonBodyOrNone, maxBodyBytes } from '../../adapters/http/json.ts';
import { CountersignError } from '../../core/errors.ts';

const event = (
  body: string | undefined,
  contentType: string | undefined = 'application/json',
  isBase64Encoded = false,
) => ({
  headers: contentType === '' ? {} : { 'content-type': contentType },
  ...(body !== undefined && { body }),
  isBase64Encoded,
});

const codeOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof CountersignError) return error.code;
    throw error;
  }
  return 'none';
};

describe('a body', () => {
  test('is read as it was sent, whatever the case and parameters of its content type', () => {
    expect(jsonBody(event('{"amount":0.1,"note":"ä"}', 'Application/JSON; Charset="UTF-8"'))).toEqual({
      amount: 0.1,
      note: 'ä',
    });
  });

  test('arrives in base64 too', () => {
    expect(jsonBody(event(Buffer.from('{"note":"ä€😀"}').toString('base64'), 'application/json', true))).toEqual({
      note: 'ä€😀',
    });
  });

  test.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
  ])('of type "%s" is refused', (contentType) => {
    expect(codeOf(() => jsonBody(event('{}', contentType)))).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  test('that is not UTF-8 is refused', () => {
    const latin1 = Buffer.from('{"note":"\u00e4"}', 'latin1').toString('base64');
    expect(codeOf(() => jsonBody(event(latin1, 'application/json', true)))).toBe('VALIDATION_FAILED');
  });

  test('may have a mebibyte, counted in bytes, and not one byte more', () => {
    const full = JSON.stringify('ä'.repeat((maxBodyBytes - 2) / 2));
    expect(jsonBody(event(full))).toHaveLength((maxBodyBytes - 2) / 2);
    expect(codeOf(() => jsonBody(event(`${full} `)))).toBe('PAYLOAD_TOO_LARGE');
    const encoded = Buffer.from(`${full} `).toString('base64');
    expect(codeOf(() => jsonBody(event(encoded, 'application/json', true)))).toBe('PAYLOAD_TOO_LARGE');
  });

  test('that is too large is refused with the limit in the message', () => {
    expect(() => jsonBody(event(' '.repeat(maxBodyBytes + 1)))).toThrow(String(maxBodyBytes));
  });

  test('that is not there is {} only where nothing is needed', () => {
    expect(jsonBodyOrNone(event(undefined, ''))).toEqual({});
    expect(codeOf(() => jsonBody(event(undefined)))).toBe('VALIDATION_FAILED');
  });
});
