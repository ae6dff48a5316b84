import type { Usage } from './meter.ts';
import type { Call } from './permissions.ts';

export interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Errors that say that nothing was applied. */
export const refusals = [
  'TransactionConflict',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
] as const;

/** An error that a service answers with; after the last one the caller cannot know whether anything was applied. */
export type ErrorAnswer = (typeof refusals)[number] | 'InternalServerError';

/** A request to an AWS service, understood. */
export interface AwsRequest {
  operation: string;
  /** What IAM has to allow for it: all of these. */
  calls: Call[];
  /** What is passed on to the engine. */
  body: string;
  /** The engine's answer as the caller asked for it, and what the call used. Bytes are counted by the endpoint. */
  read(answer: Answer): { answer: Answer; usage: Partial<Usage> };
  /** The service's own answer for an error of this kind. */
  fail(error: ErrorAnswer): Answer;
}

/** How one AWS service speaks. */
export interface AwsProtocol {
  /** Throws for an operation, or a form of it, that is not played; the message says which. */
  understand(headers: Readonly<Record<string, string>>, body: string, place: Place): AwsRequest;
  refused(reason: string): Answer;
  unknownCaller(accessKeyId: string): Answer;
  notPlayed(message: string): Answer;
}

export interface Place {
  accountId: string;
  region: string;
}
