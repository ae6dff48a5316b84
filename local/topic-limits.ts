const largestMessage = 262_144;

/**
 * What SNS refuses and fauxqs lets pass, as SNS's error document; `undefined` for a message that SNS would take. A
 * message without `MessageStructure: json` is put into that form, so that whoever reads the queues knows one form only.
 */
export function publishFault(body: unknown): string | undefined {
  if (!isForm(body) || body.Action !== 'Publish') return undefined;
  const { Subject: subject, Message: message = '' } = body;
  if (subject !== undefined && !/^[!-~][ -~]{0,98}$/.test(subject))
    return invalidParameter('Invalid parameter: Subject');
  if (Buffer.byteLength(message) > largestMessage) return invalidParameter('Invalid parameter: Message too long');
  if (body.MessageStructure === 'json') return structureFault(message);
  body.Message = JSON.stringify({ default: message });
  return undefined;
}

function structureFault(message: string): string | undefined {
  const structure = 'Invalid parameter: Message Structure';
  let parts: unknown;
  try {
    parts = JSON.parse(message);
  } catch {
    return invalidParameter(`${structure} - JSON message body failed to parse`);
  }
  if (isForm(parts) && typeof parts.default === 'string') return undefined;
  return invalidParameter(`${structure} - No default entry in JSON message body`);
}

const isForm = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);

const invalidParameter = (message: string): string =>
  `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type>` +
  `<Code>InvalidParameter</Code><Message>${message}</Message></Error><RequestId>local</RequestId></ErrorResponse>`;
