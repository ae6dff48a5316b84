import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { CorruptRecordError } from '../../core/corrupt-record.ts';
import type { PolicyDocument } from '../../core/policy-schema.ts';
import type { PolicyHead, PublishedPolicy } from '../../core/published-policy.ts';
import type { Connection } from './connection.ts';
import type { Item } from './items.ts';
import { policyVersions } from './tables.ts';

const head = z.object({ newest: z.int().positive(), forced: z.int().positive().optional(), digest: z.string() });
const published = z.object({
  missionId: z.string(),
  number: z.int().positive(),
  document: z.string(),
  digest: z.string(),
  publishedAt: z.iso.datetime({ precision: 3 }),
  publishedBy: z.string(),
});

export const headKey = (missionId: string) => ({ missionId, version: policyVersions.head });

export const versionKey = (missionId: string, version: number) => ({
  missionId,
  version: policyVersions.numbered(version),
});

export function parseHead(item: Item): PolicyHead {
  const parsed = head.safeParse(item);
  if (!parsed.success) throw new CorruptRecordError(`${item.missionId}/head`, 'not as it was written');
  const { newest, forced, digest } = parsed.data;
  return { newest, digest, ...(forced !== undefined && { forced }) };
}

export async function readHead({ client, policiesTable }: Connection, missionId: string) {
  const { Item } = await client.send(
    new GetCommand({ TableName: policiesTable, Key: headKey(missionId), ConsistentRead: true }),
  );
  return Item && parseHead(Item);
}

/** The document is kept as its canonical text: a table's numbers are not those of JSON. */
export async function readPublished(
  { client, policiesTable }: Connection,
  missionId: string,
  version: number,
): Promise<PublishedPolicy | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: policiesTable, Key: versionKey(missionId, version), ConsistentRead: true }),
  );
  if (!Item) return undefined;
  const parsed = published.safeParse(Item);
  if (!parsed.success) throw new CorruptRecordError(`${missionId}/${version}`, 'not as it was written');
  const { number, document, ...facts } = parsed.data;
  return { ...facts, version: number, document: JSON.parse(document) as PolicyDocument };
}
