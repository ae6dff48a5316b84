/**
 * Every table, key and index, once: the stack creates what stands here, the store reads and writes it.
 * `numbers` names the key attributes that are numbers; every other key attribute is a string.
 */
export interface IndexShape {
  partitionKey: string;
  sortKey: string;
  /** `keys`: keys only. A list: these attributes beside the keys. */
  projection: 'keys' | readonly string[];
}

export interface TableShape {
  partitionKey: string;
  sortKey?: string;
  numbers?: readonly string[];
  indexes?: Readonly<Record<string, IndexShape>>;
  /** New images on the stream. */
  stream?: true;
}

/** What lists carry; the arguments never. The attributes are those of `RequestSummary`. */
const requestSummary = [
  'status',
  'missionId',
  'phase',
  'actionName',
  'requestedBy',
  'onBehalfOf',
  'deadline',
  'level',
  'asked',
  'missionRoles',
  'outcomeOwed',
] as const;

export const tables = {
  requests: {
    partitionKey: 'requestId',
    sortKey: 'part',
    indexes: {
      pendingByRole: { partitionKey: 'awaitsRole', sortKey: 'deadline', projection: ['summary'] },
      due: { partitionKey: 'dueShard', sortKey: 'wakeAt', projection: 'keys' },
      byRun: { partitionKey: 'runId', sortKey: 'requestedAt', projection: requestSummary },
      closed: {
        partitionKey: 'closedDay',
        sortKey: 'closedAt',
        projection: [...requestSummary, 'runId', 'requestedAt'],
      },
    },
  },
  audit: { partitionKey: 'runId', sortKey: 'sequence', numbers: ['sequence'], stream: true },
  escalations: {
    partitionKey: 'escalationId',
    indexes: {
      open: {
        partitionKey: 'openRole',
        sortKey: 'deadline',
        projection: ['runId', 'trigger', 'confidence', 'escalatedAt', 'level'],
      },
      due: { partitionKey: 'dueShard', sortKey: 'wakeAt', projection: 'keys' },
      byRun: { partitionKey: 'runId', sortKey: 'escalatedAt', projection: ['status', 'trigger'] },
    },
  },
  edits: {
    partitionKey: 'editId',
    indexes: {
      byAction: {
        partitionKey: 'actionName',
        sortKey: 'editedAt',
        projection: ['editDistance', 'editCategories', 'runId'],
      },
    },
  },
  samples: {
    partitionKey: 'sampleId',
    indexes: {
      pendingReview: { partitionKey: 'reviewQueue', sortKey: 'sampledAt', projection: ['runId', 'actionName'] },
      byAction: { partitionKey: 'actionName', sortKey: 'reviewedAt', projection: ['wasCorrect', 'runId'] },
    },
  },
  policies: { partitionKey: 'missionId', sortKey: 'version' },
  settings: { partitionKey: 'kind', sortKey: 'id' },
} as const satisfies Record<string, TableShape>;

export type TableName = keyof typeof tables;

/**
 * Parts of a request's partition. An `awaits#` item keeps its summary in a map, so that it stands in no index but `pendingByRole`.
 */
export const parts = {
  state: 'state',
  content: (digest: string) => `content#${digest}`,
  awaits: (role: string) => `awaits#${role}`,
} as const;

/** A counter stands beside the requests, in a partition of its own: a request's id holds no `#`. In no index. */
export const counterKey = (counter: string) => ({ requestId: counter, part: 'counter' });

/** A bucket's attributes are named by the second at which it ends; at the top, so that an `ADD` finds them without a read. */
export const counterAttributes = {
  keepSeconds: 'keepSeconds',
  pending: 'pending',
  heldBy: 'heldBy',
  sum: (end: number) => `s${end}`,
  count: (end: number) => `c${end}`,
  bucketOf: (attribute: string) => (/^c\d+$/.test(attribute) ? Number(attribute.slice(1)) : undefined),
} as const;

/** The sort key of a mission's versions, in their order; beside them the one item that moves. */
export const policyVersions = {
  head: 'head',
  numbered: (version: number) => String(version).padStart(12, '0'),
} as const;

/** Precedents stand in the policies table, apart from every mission's versions: a mission's id holds no `#`. */
export const precedentPartition = (missionId: string, actionKey: string): string =>
  `precedent#${missionId}#${actionKey}`;
