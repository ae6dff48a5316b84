import { CountersignError } from '../../core/errors.ts';
import type {
  AuditStore,
  DeliveryStore,
  PolicyStore,
  PrecedentStore,
  RequestLists,
  RequestStore,
} from '../../core/ports.ts';
import { closed } from './closed-list.ts';
import { commit, record } from './commit.ts';
import { refusalOf } from './conflicts.ts';
import type { Connection } from './connection.ts';
import { readCounters, readCountersAndPrecedent } from './counters.ts';
import { countLateAttempt, due, lease, postpone, rest, strike } from './deliveries.ts';
import { ofRun, pendingForRole } from './lists.ts';
import { pendingForRoles } from './pending-list.ts';
import { readHead, readPublished } from './policies.ts';
import { precedentsOf, readPrecedent } from './precedents.ts';
import { readForCreate } from './read-for-create.ts';
import { entries, readRequest, readState, readTail } from './reads.ts';

/** The ports of the store on the DynamoDB tables, one function per access pattern. */
export function createStore(
  connection: Connection,
): RequestStore & DeliveryStore & RequestLists & AuditStore & PrecedentStore & PolicyStore {
  return {
    readRequest: (requestId) => answered(readRequest(connection, requestId)),
    readState: (requestId) => answered(readState(connection, requestId)),
    readForCreate: (requestId, missionId) => answered(readForCreate(connection, requestId, missionId)),
    readHead: (missionId) => answered(readHead(connection, missionId)),
    readPublished: (missionId, version) => answered(readPublished(connection, missionId, version)),
    readCounters: (counters) => answered(readCounters(connection, counters)),
    readCountersAndPrecedent: (counters, place) => answered(readCountersAndPrecedent(connection, counters, place)),
    readTail: (runId) => answered(readTail(connection, runId)),
    commit: (change, until) => commit(connection, change, until),
    record: (entry, moves, until) => record(connection, entry, moves, until),
    countLateAttempt: async (requestId, principal) => {
      await countLateAttempt(connection, requestId, principal);
    },
    due: (now) => due(connection, now),
    lease: (requestId, id, seen, until) => lease(connection, requestId, id, seen, until),
    strike: async (requestId, id, at) => {
      await strike(connection, requestId, id, at);
    },
    postpone: async (requestId, id, owed) => {
      await postpone(connection, requestId, id, owed);
    },
    rest: async (requestId, version, owedIds, wakeAt) => {
      await rest(connection, requestId, version, owedIds, wakeAt);
    },
    pendingForRole: (role, limit, cursor) => answered(pendingForRole(connection, role, limit, cursor)),
    pendingForRoles: (roles, limit, cursor) => answered(pendingForRoles(connection, roles, limit, cursor)),
    ofRun: (runId, limit, cursor) => answered(ofRun(connection, runId, limit, cursor)),
    closed: (before, limit, cursor) => answered(closed(connection, before, limit, cursor)),
    readPrecedent: (key) => answered(readPrecedent(connection, key)),
    precedentsOf: (of, limit, cursor) => answered(precedentsOf(connection, of, limit, cursor)),
    entries: (runId, after, limit) => answered(entries(connection, runId, after, limit)),
  };
}

/**
 * A read that failed although the SDK has tried on, with jitter: nothing was changed and asking again may help, so the caller
 * hears `TOO_MANY_REQUESTS`. What another try cannot mend (a missing grant, a corrupt record) is thrown as it came.
 */
async function answered<Result>(read: Promise<Result>): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    refusalOf(error);
    throw new CountersignError(
      'TOO_MANY_REQUESTS',
      'The store does not answer at the moment; nothing was changed by this call. Ask again in a second.',
      { retryAfterSeconds: 1 },
    );
  }
}
