import { setTimeout as pause } from 'node:timers/promises';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { StreamBatch } from './stream-batch.ts';

export type { StreamRecord };

export interface EventSource {
  /** Off: nothing is read; on again: it goes on where it was. */
  enable(enabled: boolean): void;
  close(): Promise<void>;
}

export interface ShardReading {
  batchSize: number;
  /** From the oldest record that there is; else only what comes from now on. */
  fromStart: boolean;
  /** Resolves when the batch is done with, or when `going` says no. */
  deliver(batch: StreamBatch, going: () => boolean): Promise<void>;
}

const pauseMilliseconds = 100;
const shardsMilliseconds = 5_000;

/** Reads all shards of a stream, those that come later too, each in order and one batch at a time. */
export async function readShards(
  streams: DynamoDBStreamsClient,
  streamArn: string,
  reading: ShardReading,
): Promise<EventSource> {
  const shards = new Map<string, Promise<void>>();
  let enabled = true;
  let closed = false;
  const open = () => !closed;

  async function readShard(shardId: string, fromStart: boolean): Promise<void> {
    let last: string | undefined;
    let next = await iteratorAt(shardId, fromStart, last);
    while (next !== undefined && open()) {
      if (!enabled) {
        await pause(pauseMilliseconds);
        continue;
      }
      const { Records = [], NextShardIterator } = await streams
        .send(new GetRecordsCommand({ ShardIterator: next, Limit: reading.batchSize }))
        .catch((error) => startAgain(error, shardId, fromStart, last));
      if (Records.length > 0) await reading.deliver({ shardId, records: Records, attempts: 0 }, open);
      last = Records.at(-1)?.dynamodb?.SequenceNumber ?? last;
      next = NextShardIterator;
      if (Records.length < reading.batchSize) await pause(pauseMilliseconds);
    }
  }

  async function iteratorAt(shardId: string, fromStart: boolean, after: string | undefined) {
    const start = fromStart ? ('TRIM_HORIZON' as const) : ('LATEST' as const);
    const where = after
      ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber: after }
      : { ShardIteratorType: start };
    const input = { StreamArn: streamArn, ShardId: shardId, ...where };
    return (await streams.send(new GetShardIteratorCommand(input))).ShardIterator;
  }

  /** An iterator grows old while the stream is off. */
  async function startAgain(error: unknown, shardId: string, fromStart: boolean, last: string | undefined) {
    if (!open()) return {};
    report(error);
    await pause(pauseMilliseconds);
    return { Records: [], NextShardIterator: await iteratorAt(shardId, fromStart, last) };
  }

  async function follow(fromStart: boolean): Promise<void> {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }));
    for (const { ShardId } of StreamDescription?.Shards ?? [])
      if (ShardId !== undefined && !shards.has(ShardId))
        shards.set(ShardId, readShard(ShardId, fromStart).catch(report));
  }

  function report(error: unknown): void {
    if (open()) process.stderr.write(`the stream could not be read: ${error instanceof Error ? error.stack : error}\n`);
  }

  await follow(reading.fromStart);
  // A shard that appears later is new as a whole.
  const timer = setInterval(() => follow(true).catch(report), shardsMilliseconds);
  return {
    enable: (wanted) => {
      enabled = wanted;
    },
    close: async () => {
      closed = true;
      clearInterval(timer);
      await Promise.all(shards.values());
    },
  };
}
