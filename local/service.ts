import { basename, join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { readRoutes } from './api-routes.ts';
import { type AwsEndpoint, engineCredentials, startAwsEndpoint } from './aws-endpoint.ts';
import { type Deployment, synthesiseOnce } from './cached-synth.ts';
import { playControl } from './control.ts';
import { lockData } from './data-lock.ts';
import { startEngine } from './dynamodb-engine.ts';
import { playStreams } from './event-sources.ts';
import { type FunctionLog, openFunctionLog } from './function-log.ts';
import { type PlayedFunction, playFunction } from './functions.ts';
import { playHttpApi } from './http-api.ts';
import { createIdentityProvider, type IdentityProvider } from './identity-provider.ts';
import { listenOn } from './listening.ts';
import { localFolder } from './local-folder.ts';
import { openMailbox } from './mailbox.ts';
import { createPlayedTables } from './played-tables.ts';
import { playSchedules } from './schedules.ts';
import { functionName, type PlayedTemplate, readTemplate } from './template.ts';
import { startTopicsAndQueues } from './topics-and-queues.ts';

export interface ServiceOptions {
  /** A list is tried in order; 0 is any free port. @default - any free ones, issuers that were synthesised for before first */
  ports?: Partial<Record<'api' | 'issuer' | 'mailbox' | 'control', number | readonly number[]>>;
  /** Keeps the tables in this folder. @default - in memory */
  dataDir?: string;
  /** Plays what lies there, made for the issuer's port that is given. @default - synthesises */
  cdkOut?: string;
  /** How the stack is deployed, where that differs. @default - policies/default.yaml, a sweep each minute */
  deployment?: Deployment;
  /** The functions' output goes to the log only. @default true */
  quiet?: boolean;
  /** Folder for the calls that the functions made, written at the end. @default - the environment variable COUNTERSIGN_RECORD_CALLS, if set */
  recordCalls?: string;
}

/** `.local/service.json`. */
export interface ServiceDescription {
  apiUrl: string;
  webUrl: string;
  mailboxUrl: string;
  controlUrl: string;
  issuer: string;
  /** By identity; good for 24 hours. */
  tokens: Readonly<Record<string, string>>;
}

export interface Service {
  description: ServiceDescription;
  /** The tables' own address, past the permission check. */
  dynamodbUrl: string;
  template: PlayedTemplate;
  endpoint: AwsEndpoint;
  /** A token with exactly these claims, signed with the issuer's own key: what tests the checks behind the signature. */
  signToken: IdentityProvider['sign'];
  stop(): Promise<void>;
}

/** Tests share the folders of these issuers: one synth for each. */
const issuerPorts = Array.from({ length: 32 }, (_, index) => 18_800 + index);

/** Starts the deployed stack on this machine: synthesised, and its template played. Several may run at once. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const closing: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    return { ...(await start(options, (close) => closing.push(close))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  { ports = {}, dataDir, cdkOut, deployment = {}, quiet = true, recordCalls }: ServiceOptions,
  atStop: (close: () => unknown) => void,
): Promise<Omit<Service, 'stop'>> {
  if (dataDir !== undefined && !process.env.DYNAMODB_ENDPOINT) atStop(lockData(dataDir));
  const listen = async (candidates: number | readonly number[]) => {
    const listening = await listenOn([candidates].flat());
    atStop(listening.close);
    return listening;
  };
  const issuer = await listen(ports.issuer ?? issuerPorts);
  const api = await listen(ports.api ?? [0]);
  const mailbox = await listen(ports.mailbox ?? [0]);
  const control = await listen(ports.control ?? [0]);

  const variant = Object.values(deployment).map((value) => `-${basename(String(value), '.yaml')}`);
  const assembly = cdkOut ?? join(localFolder, `cdk.out-${issuer.port}${variant.join('')}`);
  const engineStarting = startEngine(dataDir === undefined ? {} : { dataDir });
  atStop(async () => (await engineStarting.catch(() => undefined))?.stop());
  const identitiesStarting = createIdentityProvider(issuer.url, api.url);
  if (cdkOut === undefined) await synthesiseOnce(issuer.url, assembly, deployment);
  const template = readTemplate(assembly, { apiEndpoint: api.url, issuer: issuer.url });
  const engine = await engineStarting;

  const access = { endpoint: engine.endpoint, region: template.region, credentials: engineCredentials };
  const database = new DynamoDBClient(access);
  const streams = new DynamoDBStreamsClient(access);
  atStop(() => [database, streams].map((client) => client.destroy()));
  await createPlayedTables(template, database);
  const queues = await startTopicsAndQueues(template);
  atStop(queues.close);
  const endpoint = await startAwsEndpoint({
    template,
    dynamodbUrl: engine.endpoint,
    snsUrl: queues.url,
    ...(recordCalls === undefined ? {} : { recordTo: recordCalls }),
  });
  atStop(endpoint.close);

  const log = openFunctionLog(join(localFolder, `functions-${api.port}.log`), !quiet);
  atStop(log.close);
  const clock = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const functions = playFunctions(template, endpoint, clock, log);
  atStop(() => Promise.all([...functions.values()].map((one) => one.close())));
  const invoke = (functionId: string, event: unknown) => {
    const played = functions.get(functionId);
    if (!played) throw new Error(`there is no function ${functionId} in the template`);
    return played.invoke(event);
  };

  const source = await playStreams({ template, database, streams, invoke, sendToQueue: queues.send });
  atStop(source.close);
  atStop(playSchedules(template, invoke).close);
  const identities = await identitiesStarting;
  const apiId = template.ofType('AWS::ApiGatewayV2::Api')[0]?.logicalId ?? '';
  issuer.answerWith(identities.listener);
  api.answerWith(playHttpApi({ accountId: template.accountId, apiId, routes: readRoutes(template), invoke }));
  mailbox.answerWith(openMailbox(queues).listener);
  const byName = new Map([...functions.values()].map((one) => [one.name, one]));
  control.answerWith(
    playControl({
      endpoint,
      functions: [...byName.keys()],
      invoke: async (name, event) => byName.get(name)?.invoke(event) ?? { status: 'throttled' },
      moveClock: (offsetSeconds) => {
        new Float64Array(clock)[0] = offsetSeconds * 1000;
      },
      enableStream: source.enable,
    }),
  );
  return {
    description: {
      apiUrl: api.url,
      webUrl: api.url,
      mailboxUrl: mailbox.url,
      controlUrl: control.url,
      issuer: issuer.url,
      tokens: identities.tokens,
    },
    dynamodbUrl: engine.endpoint,
    template,
    endpoint,
    signToken: identities.sign,
  };
}

function playFunctions(
  template: PlayedTemplate,
  endpoint: AwsEndpoint,
  clock: SharedArrayBuffer,
  log: FunctionLog,
): ReadonlyMap<string, PlayedFunction> {
  const resources = template.ofType('AWS::Lambda::Function');
  return new Map(
    resources.map((resource) => {
      const { logicalId, properties } = resource;
      const { accessKeyId, secretAccessKey } = endpoint.credentialsFor(logicalId);
      const name = functionName(resource);
      const { Variables = {} } = (properties.Environment ?? {}) as { Variables?: Record<string, string> };
      const reserved = properties.ReservedConcurrentExecutions;
      const definition = {
        logicalId,
        name,
        arn: `arn:aws:lambda:${template.region}:${template.accountId}:function:${logicalId}`,
        folder: template.assetFolder(resource),
        handler: String(properties.Handler),
        timeoutSeconds: Number(properties.Timeout ?? 3),
        memoryMegabytes: Number(properties.MemorySize ?? 128),
        ...(reserved === undefined ? {} : { reservedConcurrency: Number(reserved) }),
        environment: {
          ...Variables,
          AWS_REGION: template.region,
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
          AWS_ENDPOINT_URL: endpoint.url,
          AWS_LAMBDA_FUNCTION_NAME: name,
          AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize ?? 128),
        },
      };
      return [logicalId, playFunction(definition, clock, log)];
    }),
  );
}
