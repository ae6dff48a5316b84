import { environment as env } from '../adapters/environment.ts';

type EnvironmentName = keyof typeof env;

interface FunctionShape {
  /** Which variables it needs; it gets no other. */
  environment: readonly EnvironmentName[];
  memorySize: number;
  /** Seconds. API Gateway gives up after 30, so a function that answers a call ends before. */
  timeout: number;
}

const identity = ['nameClaim', 'rolesClaim', 'scopePrefix'] as const;
const stores = ['requestsTable', 'auditTable'] as const;

/** The functions: `lambdas/<name>.ts` holds the handler of each. */
export const functions = {
  requests: {
    environment: [...stores, 'policiesTable', 'samplesTable', 'escalationsTable', ...identity],
    memorySize: 1024,
    timeout: 29,
  },
  decisions: { environment: [...stores, 'policiesTable', ...identity], memorySize: 1024, timeout: 29 },
  policies: { environment: [...stores, 'policiesTable', ...identity], memorySize: 1024, timeout: 29 },
  reads: { environment: [...stores, ...identity], memorySize: 512, timeout: 29 },
  wait: { environment: ['requestsTable', ...identity], memorySize: 512, timeout: 29 },
  sweep: { environment: [...stores, 'alertsTopic', 'webUrl'], memorySize: 1024, timeout: 60 },
  dispatch: { environment: ['requestsTable', 'alertsTopic', 'webUrl'], memorySize: 512, timeout: 60 },
  pages: {
    environment: [...stores, 'policiesTable', ...identity, 'webUrl', 'issuer', 'audience', 'webClientId'],
    memorySize: 1024,
    timeout: 29,
  },
} as const satisfies Record<string, FunctionShape>;

export type FunctionName = keyof typeof functions;

/** The environment of one function, out of all values that there are. */
export const environmentOf = (name: FunctionName, values: Readonly<Record<EnvironmentName, string>>) =>
  Object.fromEntries(functions[name].environment.map((variable) => [env[variable], values[variable]]));

/** One value per function, in the order of the table above. */
export const eachFunction = <Value>(make: (name: FunctionName) => Value): Record<FunctionName, Value> =>
  Object.fromEntries((Object.keys(functions) as FunctionName[]).map((name) => [name, make(name)])) as Record<
    FunctionName,
    Value
  >;
