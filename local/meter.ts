/** What one call used. */
export interface Usage {
  capacityUnits: number;
  /** In the answer. */
  itemsReturned: number;
  /** Looked at by a query or scan before its filter. */
  itemsScanned: number;
  itemsWritten: number;
  requestBytes: number;
  responseBytes: number;
}

export interface Counts extends Usage {
  /** Calls that reached the engine, also those whose answer was then lost by a fault. */
  calls: number;
  /** Of `calls`: answered with an error by the engine, such as a condition that did not hold. */
  failed: number;
  /** Answered by a fault: `before` in place of the call, `after` over what the engine had done. */
  injected: number;
  /** Refused by the permission check; not in `calls`. */
  refused: number;
}

export interface MeterSnapshot {
  since: string;
  /** By function name, then by operation (`Query`, `TransactWriteItems`, `Publish`). */
  functions: Record<string, Record<string, Counts>>;
}

export interface Meter {
  add(functionName: string, operation: string, counts: Partial<Counts>): void;
  snapshot(): MeterSnapshot;
  zero(): void;
}

const nothing: Counts = {
  calls: 0,
  failed: 0,
  injected: 0,
  refused: 0,
  capacityUnits: 0,
  itemsReturned: 0,
  itemsScanned: 0,
  itemsWritten: 0,
  requestBytes: 0,
  responseBytes: 0,
};

export function createMeter(): Meter {
  let since = new Date();
  let functions: MeterSnapshot['functions'] = {};
  return {
    add(functionName, operation, counts) {
      const operations = functions[functionName] ?? {};
      const sums = operations[operation] ?? { ...nothing };
      for (const name of Object.keys(nothing) as (keyof Counts)[]) sums[name] += counts[name] ?? 0;
      operations[operation] = sums;
      functions[functionName] = operations;
    },
    snapshot: () => structuredClone({ since: since.toISOString(), functions }),
    zero() {
      since = new Date();
      functions = {};
    },
  };
}
