import type { Answer, AwsProtocol } from './aws-protocol.ts';

export const snsOperations = ['Publish', 'PublishBatch'] as const;

/** SNS: the query protocol, a form in and XML out. */
export const sns: AwsProtocol = {
  understand(_headers, body) {
    const form = new URLSearchParams(body);
    const operation = snsOperations.find((name) => name === form.get('Action'));
    if (!operation) throw new Error(`sns:${form.get('Action')} is not played; allowed: ${snsOperations.join(', ')}`);
    const topic = form.get('TopicArn');
    if (!topic) throw new Error(`sns:${operation} is played to a TopicArn only`);
    return {
      operation,
      calls: [{ action: 'sns:Publish', resource: topic, context: {} }],
      body,
      read: (answer) => ({ answer, usage: {} }),
      fail: (error) =>
        error === 'ThrottlingException'
          ? failure(400, 'Throttling', 'Rate exceeded')
          : failure(500, 'InternalError', 'The request processing has failed because of an internal failure.'),
    };
  },
  refused: (reason) => failure(403, 'AuthorizationError', reason),
  unknownCaller: (accessKeyId) => failure(403, 'InvalidClientTokenId', `"${accessKeyId}" is no function of the stack`),
  notPlayed: (message) => failure(400, 'InvalidAction', message),
};

function failure(status: number, code: string, message: string): Answer {
  const type = status < 500 ? 'Sender' : 'Receiver';
  const body =
    '<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">' +
    `<Error><Type>${type}</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error>` +
    '<RequestId>local</RequestId></ErrorResponse>';
  return { status, contentType: 'text/xml', body };
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
