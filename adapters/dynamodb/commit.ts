import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { AuditEntry } from '../../core/audit-entry.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { Change } from '../../core/change.ts';
import { isPast } from '../../core/deadline.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Instant } from '../../core/instant.ts';
import type { Move } from '../../core/move.ts';
import type { CommitResult } from '../../core/ports.ts';
import { type Condition, idFree, isAfter, requestedBy, sameVersion, sequenceFree, stillIn } from './conditions.ts';
import { type Purpose, type Refusal, refusalOf } from './conflicts.ts';
import type { Connection } from './connection.ts';
import { Expression } from './expression.ts';
import { awaitsItems, contentItem, entryItem, type Item, stateItem, stateKey } from './items.ts';
import { moveWrite, type Write } from './move-write.ts';
import { Patience } from './patience.ts';
import { readHash } from './reads.ts';
import { stateSchema } from './state-schema.ts';
import { stateUpdate } from './state-update.ts';
import { mustBeBefore, type TimeLimit } from './vote.ts';

/**
 * See the port. The token makes a try whose answer was lost and the next one one and the same write. What is bound to a time
 * is a conflict as soon as that is over, so that it is decided again; each try that may still write has its own instant in the condition.
 */
export const commit = (connection: Connection, change: Change, until: number): Promise<CommitResult> =>
  transact(connection, change, until, (now) => writesOf(connection, change, now), mustBeBefore(change));

/** See the port: an entry about no request. */
export function record(
  connection: Connection,
  entry: AuditEntry,
  moves: readonly Move[],
  until: number,
): Promise<CommitResult> {
  const writes: [Purpose, Write][] = [
    ['entry', putIf(connection.auditTable, entryItem(entry), sequenceFree, 'ALL_OLD')],
    ...moves.map((move): [Purpose, Write] => ['move', moveWrite(connection, move)]),
  ];
  return transact(connection, { entry }, until, () => writes);
}

async function transact(
  connection: Connection,
  change: Pick<Change, 'entry' | 'revises'>,
  until: number,
  writesAt: (now: Instant) => [Purpose, Write][],
  limit?: TimeLimit,
): Promise<CommitResult> {
  const { world } = connection;
  let writes = writesAt(world.now());
  let token = world.randomId();
  const patience = new Patience(world, until);
  patience.check();
  for (let mayBeOurs = false; ; await patience.wait()) {
    const now = world.now();
    if (limit && isPast(limit.instant, now)) {
      const winner = mayBeOurs ? await whoWrote(connection, change, patience) : undefined;
      return winner === change.entry.hash ? 'committed' : 'conflict';
    }
    if (limit && !mayBeOurs) {
      writes = writesAt(now);
      token = world.randomId();
    }
    const refusal = await send(connection, writes, token, patience.signal(50, limit?.instant));
    switch (refusal?.kind) {
      case undefined:
        return 'committed';
      case 'conflict':
        return (mayBeOurs || refusal.retried) && refusal.winner === change.entry.hash ? 'committed' : 'conflict';
      case 'revisesFailed':
        throw notRevisable(change);
      case 'unclear': {
        mayBeOurs = true;
        const winner = await whoWrote(connection, change, patience);
        if (winner !== undefined) return winner === change.entry.hash ? 'committed' : 'conflict';
        break;
      }
      case 'busy':
        break;
    }
  }
}

async function send(
  { client }: Connection,
  writes: [Purpose, Write][],
  ClientRequestToken: string,
  abortSignal: AbortSignal,
): Promise<Refusal | undefined> {
  try {
    const TransactItems = writes.map(([, write]) => write);
    await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }), { abortSignal });
    return undefined;
  } catch (error) {
    return refusalOf(
      error,
      writes.map(([purpose]) => purpose),
    );
  }
}

/** Clears up an unclear answer, also when the caller's time has just run out. Undefined: nobody, or that was unclear too. */
async function whoWrote(
  connection: Connection,
  { entry }: Pick<Change, 'entry'>,
  patience: Patience,
): Promise<string | undefined> {
  try {
    return await readHash(connection, entry, patience.signal(500));
  } catch (error) {
    refusalOf(error);
    return undefined;
  }
}

function writesOf(connection: Connection, change: Change, now: Instant): [Purpose, Write][] {
  const { requestsTable, auditTable } = connection;
  const { after, contents, entry, revises } = change;
  const put = (item: object): Write => ({ Put: { TableName: requestsTable, Item: { ...item } } });
  const named = new Map(contents.map((content) => [content.digest, content]));
  return [
    ['entry', putIf(auditTable, entryItem(entry), sequenceFree, 'ALL_OLD')],
    ['state', stateWrite(requestsTable, change, now)],
    ...[...named.values()].map((content): [Purpose, Write] => ['content', put(contentItem(after.requestId, content))]),
    ...awaitsWrites(requestsTable, change).map((write): [Purpose, Write] => ['awaits', write]),
    ...(change.moves ?? []).map((move): [Purpose, Write] => ['move', moveWrite(connection, move)]),
    ...(revises ? [['revises', revisesCheck(requestsTable, change, revises)] satisfies [Purpose, Write]] : []),
  ];
}

function putIf(TableName: string, item: object, condition: Condition, returned: 'ALL_OLD' | 'NONE'): Write {
  const expression = new Expression();
  const ConditionExpression = condition(expression);
  return {
    Put: {
      TableName,
      Item: { ...item },
      ConditionExpression,
      ReturnValuesOnConditionCheckFailure: returned,
      ...expression.parameters(),
    },
  };
}

/** A state that could not be read back is not written: it would be found by nobody but the sweep, every minute. */
function stateWrite(TableName: string, change: Change, now: Instant): Write {
  const { before, after } = change;
  stateSchema.parse(after);
  if (!before) return putIf(TableName, stateItem(after), idFree, 'NONE');
  const conditions = [sameVersion(before.version), stillIn(before.status)];
  const limit = mustBeBefore(change);
  if (limit) conditions.push(isAfter(limit.attribute, now));
  return { Update: { TableName, ...stateUpdate(before, after, ...conditions) } };
}

function awaitsWrites(TableName: string, { before, after }: Change): Write[] {
  const [old, next] = [before ? awaitsItems(before) : new Map<string, Item>(), awaitsItems(after)];
  const gone = [...old.keys()].filter((part) => !next.has(part));
  const moved = [...next].filter(([part, item]) => canonicalJson(old.get(part) ?? null) !== canonicalJson(item));
  return [
    ...gone.map((part): Write => ({ Delete: { TableName, Key: { requestId: after.requestId, part } } })),
    ...moved.map(([, Item]): Write => ({ Put: { TableName, Item } })),
  ];
}

function revisesCheck(TableName: string, change: Change, revises: NonNullable<Change['revises']>): Write {
  if (revises.requestId === change.after.requestId) throw notRevisable(change);
  const expression = new Expression();
  return {
    ConditionCheck: {
      TableName,
      Key: stateKey(revises.requestId),
      ConditionExpression: requestedBy(revises.requestedBy)(expression),
      ...expression.parameters(),
    },
  };
}

const notRevisable = ({ revises }: Pick<Change, 'revises'>): CountersignError =>
  new CountersignError(
    'VALIDATION_FAILED',
    `revisionOf is "${revises?.requestId}", which is not one of your requests; name one of yours, or leave it away.`,
  );
