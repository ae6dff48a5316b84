import type {
  AuditStore,
  DeliveryStore,
  RequestLists,
  RequestStore,
  StoredEntry,
  StoredRequest,
} from '../../../core/ports.ts';

export type Store = RequestStore & DeliveryStore & RequestLists & AuditStore;

interface Alteration {
  /** The whole chain of the run, as somebody left it. */
  entries?: (all: StoredEntry[]) => StoredEntry[];
  /** A request as somebody left it. */
  request?: (request: StoredRequest) => StoredRequest | undefined;
  /** Ids that the index of the run does not name. */
  unlisted?: string[];
}

/** A store whose tables somebody changed behind the service's back. */
export function alteredStore(store: Store, { entries, request, unlisted = [] }: Alteration): Store {
  return {
    ...delegating(store),
    async entries(runId, after, limit) {
      const all = await store.entries(runId, 0, 10_000);
      return (entries?.(all) ?? all)
        .filter(({ sequence }) => sequence > (after ?? Number.NEGATIVE_INFINITY))
        .slice(0, limit);
    },
    async readRequest(requestId) {
      const found = await store.readRequest(requestId);
      return found && request ? request(found) : found;
    },
    async ofRun(runId, limit, cursor) {
      const page = await store.ofRun(runId, limit, cursor);
      return { ...page, items: page.items.filter(({ requestId }) => !unlisted.includes(requestId)) };
    },
  };
}

/** Every method of the port, handed on. */
export const delegating = (store: Store): Store => ({
  readRequest: (...given) => store.readRequest(...given),
  readState: (...given) => store.readState(...given),
  readTail: (...given) => store.readTail(...given),
  commit: (...given) => store.commit(...given),
  countLateAttempt: (...given) => store.countLateAttempt(...given),
  due: (...given) => store.due(...given),
  lease: (...given) => store.lease(...given),
  strike: (...given) => store.strike(...given),
  postpone: (...given) => store.postpone(...given),
  rest: (...given) => store.rest(...given),
  pendingForRoles: (...given) => store.pendingForRoles(...given),
  pendingForRole: (...given) => store.pendingForRole(...given),
  ofRun: (...given) => store.ofRun(...given),
  closed: (...given) => store.closed(...given),
  entries: (...given) => store.entries(...given),
});
