import type { AuditStore, DeliveryStore, RequestLists, RequestStore } from '../../core/ports.ts';
import { closed } from './closed-list.ts';
import { commit } from './commit.ts';
import type { Connection } from './connection.ts';
import { countLateAttempt, due, lease, postpone, rest, strike } from './deliveries.ts';
import { ofRun, pendingForRole } from './lists.ts';
import { entries, readRequest, readState, readTail } from './reads.ts';

/** The ports of the store on two DynamoDB tables, one function per access pattern. */
export function createStore(connection: Connection): RequestStore & DeliveryStore & RequestLists & AuditStore {
  return {
    readRequest: (requestId) => readRequest(connection, requestId),
    readState: (requestId) => readState(connection, requestId),
    readTail: (runId) => readTail(connection, runId),
    commit: (change, until) => commit(connection, change, until),
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
    pendingForRole: (role, limit, cursor) => pendingForRole(connection, role, limit, cursor),
    ofRun: (runId, limit, cursor) => ofRun(connection, runId, limit, cursor),
    closed: (before, limit, cursor) => closed(connection, before, limit, cursor),
    entries: (runId, after, limit) => entries(connection, runId, after, limit),
  };
}
