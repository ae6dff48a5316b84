import type { Context } from 'aws-lambda';
import { functionsTime } from '../adapters/http/api.ts';
import { count, log } from '../adapters/log.ts';
import { sweepTimeouts } from '../core/use-cases/sweep-timeouts.ts';
import { sweepingPorts, webUrl } from './composition.ts';

const ports = sweepingPorts();
const address = webUrl();

/** What was begun shall end, with all the tries of its writes and alerts, before the function does. */
const toFinishMilliseconds = 10_000;

/** The scheduled pass over what is due. What failed stays due, is counted, and is looked at again by the next one. */
export async function handler(_event: unknown, context: Context): Promise<{ handled: number; failed: string[] }> {
  const result = await sweepTimeouts(ports, {
    until: functionsTime(context) - toFinishMilliseconds,
    webUrl: address,
  });
  const failed = result.failed.map(({ requestId }) => requestId);
  count({ SweepHandled: result.handled, SweepFailed: failed.length, SweepUnfinished: Number(result.unfinished) });
  if (failed.length > 0) log('error', 'requests that the sweep could not handle', { requestIds: failed });
  return { handled: result.handled, failed };
}
