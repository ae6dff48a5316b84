import type {
  AuditStore,
  DeliveryStore,
  PolicyStore,
  PrecedentStore,
  RequestLists,
  RequestStore,
  StoredEntry,
  StoredRequest,
} from '../../../core/ports.ts';

export type Store = RequestStore & DeliveryStore & RequestLists & AuditStore & PolicyStore & PrecedentStore;

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

/** Every method of the store, handed on. */
export function delegating(store: Store): Store {
  const names = [...Object.keys(store), ...Object.getOwnPropertyNames(Object.getPrototypeOf(store))];
  const methods = names.flatMap((name) => {
    const method: unknown = Reflect.get(store, name);
    return typeof method === 'function' && name !== 'constructor' ? [[name, method.bind(store)] as const] : [];
  });
  return Object.fromEntries(methods) as unknown as Store;
}
