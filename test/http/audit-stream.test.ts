import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eachAuditedRequest } from '../../adapters/audit-stream.ts';

const record = (
  sequence: number,
  entry: string,
  eventName: DynamoDBRecord['eventName'] = 'INSERT',
): DynamoDBRecord => ({
  eventName,
  dynamodb: { SequenceNumber: String(sequence), NewImage: { entry: { S: entry } } },
});
const forty = Array.from({ length: 40 }, (_, index) => record(index, JSON.stringify({ requestId: `r-${index}` })));

let written: string[];
beforeEach(() => {
  written = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => written.push(String(line)) > 0);
});
afterEach(() => vi.restoreAllMocks());

test('case 60: of 40 records with one that fails, 39 are done in order and one is reported', async () => {
  const done: string[] = [];
  const answer = await eachAuditedRequest({ Records: forty }, async (requestId) => {
    if (requestId === 'r-17') throw new Error('its text');
    done.push(requestId);
  });
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '17' }] });
  expect(done).toEqual(forty.map((_, index) => `r-${index}`).filter((id) => id !== 'r-17'));
  expect(written.join('')).toContain('"sequenceNumber":"17"');
  expect(written.join('')).not.toContain('its text');
});

test('case 60: a record that cannot be read fails alone', async () => {
  const attend = vi.fn(async () => {});
  const broken = [
    record(1, '{'),
    { eventName: 'INSERT' as const, dynamodb: { SequenceNumber: '2' } },
    ...forty.slice(3, 5),
  ];
  const { batchItemFailures } = await eachAuditedRequest({ Records: broken }, attend);
  expect(batchItemFailures).toEqual([{ itemIdentifier: '1' }, { itemIdentifier: '2' }]);
  expect(attend.mock.calls).toEqual([['r-3'], ['r-4']]);
});

test.each(['MODIFY', 'REMOVE'] as const)(
  'a %s of an audit entry is counted for the alarm and dispatches nothing',
  async (kind) => {
    const attend = vi.fn(async () => {});
    const { batchItemFailures } = await eachAuditedRequest(
      { Records: [record(1, '{"requestId":"r-1"}', kind)] },
      attend,
    );
    expect(batchItemFailures).toEqual([]);
    expect(attend).not.toHaveBeenCalled();
    const metric = JSON.parse(written[0] ?? '');
    expect(metric._aws.CloudWatchMetrics[0]).toMatchObject({
      Namespace: 'Countersign',
      Metrics: [{ Name: 'UnexpectedAuditRecord', Unit: 'Count' }],
    });
    expect(metric.UnexpectedAuditRecord).toBe(1);
  },
);

test('an entry about no request wakes nobody', async () => {
  const attend = vi.fn(async () => {});
  expect(await eachAuditedRequest({ Records: [record(1, '{}')] }, attend)).toEqual({ batchItemFailures: [] });
  expect(attend).not.toHaveBeenCalled();
});
