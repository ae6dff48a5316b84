import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { dynamodb } from './aws-dynamodb.ts';
import type { Answer, AwsProtocol, AwsRequest } from './aws-protocol.ts';
import { sns } from './aws-sns.ts';
import { createFaults, type Faults, type InjectedError } from './faults.ts';
import { strangeHost } from './loopback-only.ts';
import { createMeter, type Meter } from './meter.ts';
import { type Call, permissionsOf, type Verdict } from './permissions.ts';
import { type RecordedCall, startRecording, writeRecording } from './recorded-calls.ts';
import { functionName, type PlayedTemplate } from './template.ts';

export interface AwsEndpointOptions {
  template: PlayedTemplate;
  /** Where DynamoDB and SNS really are; neither checks signatures. */
  dynamodbUrl: string;
  snsUrl: string;
  /** @default - a free one */
  port?: number;
  /** Folder for the recorded calls, written on close. @default - the environment variable COUNTERSIGN_RECORD_CALLS, if set */
  recordTo?: string | undefined;
}

export interface AwsEndpoint {
  /** For `AWS_ENDPOINT_URL`. */
  url: string;
  /** Who signs with these is this function. Throws for an id that is none. */
  credentialsFor(functionLogicalId: string): { accessKeyId: string; secretAccessKey: string };
  meter: Meter;
  faults: Faults;
  /** Every distinct call so far, the refused ones too. */
  recorded(): RecordedCall[];
  close(): Promise<void>;
}

/**
 * The credentials that all calls reach the engine with, whoever made them: DynamoDB Local keeps tables apart by access
 * key id. What makes the tables and reads the streams uses them too.
 */
export const engineCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

interface Caller {
  logicalId: string;
  name: string;
  permit(call: Call): Verdict;
}

/** What to do with a request: answer it, or lose the answer. */
type Fate = Answer | 'timeout' | 'socket';

/**
 * AWS for the functions, on the loopback interface: knows the caller from its access key id, refuses what its role does
 * not allow, counts, fails when told to, and passes the rest on. Throws for a role that the permission check does not understand.
 */
export async function startAwsEndpoint(options: AwsEndpointOptions): Promise<AwsEndpoint> {
  const { template } = options;
  const recordTo = 'recordTo' in options ? options.recordTo : process.env.COUNTERSIGN_RECORD_CALLS;
  const callers: Caller[] = template.ofType('AWS::Lambda::Function').map((resource) => ({
    logicalId: resource.logicalId,
    name: functionName(resource),
    permit: permissionsOf(template, resource.logicalId),
  }));
  const meter = createMeter();
  const faults = createFaults(callers.flatMap(({ name, logicalId }) => [name, logicalId]));
  const recording = startRecording();

  async function fateOf(headers: Record<string, string>, body: string): Promise<Fate> {
    const { accessKeyId, service } = credentialIn(headers.authorization);
    const [protocol, url] = service === 'sns' ? [sns, options.snsUrl] : [dynamodb, options.dynamodbUrl];
    const caller = callers.find(({ logicalId }) => accessKeyIdOf(logicalId) === accessKeyId);
    if (service !== 'sns' && service !== 'dynamodb')
      return protocol.notPlayed(`${service} is not played; dynamodb and sns are`);
    if (!caller) return protocol.unknownCaller(accessKeyId);
    const request = understand(protocol, headers, body);
    if ('status' in request) return request;
    const refusal = permit(caller, request);
    if (refusal) return protocol.refused(refusal);
    return apply(caller, request, () => passOn(url, headers, request));
  }

  function understand(protocol: AwsProtocol, headers: Record<string, string>, body: string): AwsRequest | Answer {
    try {
      return protocol.understand(headers, body, template);
    } catch (error) {
      return protocol.notPlayed(error instanceof Error ? error.message : String(error));
    }
  }

  /** All calls are recorded, whichever of them is refused. */
  function permit(caller: Caller, { operation, calls }: AwsRequest): string | undefined {
    const reasons = calls.flatMap((call) => {
      const verdict = caller.permit(call);
      recording.add({ ...call, functionId: caller.logicalId, allowed: verdict.allowed });
      return verdict.allowed ? [] : [verdict.reason];
    });
    if (reasons.length > 0) meter.add(caller.name, operation, { refused: 1 });
    return reasons[0] && `${caller.name} (${caller.logicalId}): ${reasons.join('; ')}`;
  }

  async function apply(caller: Caller, request: AwsRequest, call: () => Promise<Answer>): Promise<Fate> {
    const { operation } = request;
    const fault = faults.strike(caller, operation);
    if (fault) meter.add(caller.name, operation, { injected: 1 });
    if (fault?.when === 'before') return failed(request, fault.error);
    const given = await call();
    const { answer, usage } = request.read(given);
    meter.add(caller.name, operation, {
      ...usage,
      calls: 1,
      failed: given.status < 400 ? 0 : 1,
      requestBytes: Buffer.byteLength(request.body),
      responseBytes: Buffer.byteLength(given.body),
    });
    return fault ? failed(request, fault.error) : answer;
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const fate = await fateOf(singleHeaders(message), await text(message));
    if (fate === 'timeout') return;
    if (fate === 'socket') return void message.socket.destroy();
    response.writeHead(fate.status, { 'content-type': fate.contentType, 'x-amzn-requestid': 'local' });
    response.end(fate.body);
  }

  const server = createServer((message, response) => {
    const refusal = strangeHost(message);
    if (refusal) return void response.writeHead(403).end(refusal);
    serve(message, response).catch((error) => {
      console.error(`The AWS endpoint could not pass a call on: ${error instanceof Error ? error.message : error}`);
      message.socket.destroy();
    });
  });
  // Clients keep their connections; one that ends between two of their calls would look like a fault.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentialsFor: (functionLogicalId) => {
      template.get(functionLogicalId);
      return { accessKeyId: accessKeyIdOf(functionLogicalId), secretAccessKey: 'local' };
    },
    meter,
    faults,
    recorded: recording.all,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      if (recordTo) writeRecording(recordTo, recording.all());
    },
  };
}

/** Letters and digits only: that is what DynamoDB Local takes. */
const accessKeyIdOf = (logicalId: string) => `LOCAL${logicalId}`;

const failed = (request: AwsRequest, error: InjectedError): Fate =>
  error === 'timeout' || error === 'socket' ? error : request.fail(error);

/** `Credential=<access key id>/<date>/<region>/<service>/aws4_request`, from a SigV4 header. */
function credentialIn(authorization: string | undefined): { accessKeyId: string; service: string } {
  const [, accessKeyId = '', service = 'an unsigned call'] =
    /Credential=([^/,]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(authorization ?? '') ?? [];
  return { accessKeyId, service };
}

async function passOn(url: string, headers: Record<string, string>, request: AwsRequest): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': headers['content-type'] ?? '',
      ...(headers['x-amz-target'] && { 'x-amz-target': headers['x-amz-target'] }),
      ...(headers['x-amz-date'] && { 'x-amz-date': headers['x-amz-date'] }),
      authorization:
        headers.authorization?.replace(/Credential=[^/]+/, `Credential=${engineCredentials.accessKeyId}`) ?? '',
    },
    body: request.body,
  });
  const contentType = response.headers.get('content-type') ?? 'text/plain';
  return { status: response.status, contentType, body: await response.text() };
}

const singleHeaders = (message: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));
