import { configuration } from '../adapters/config.ts';
import { createClient } from '../adapters/dynamodb/client.ts';
import type { Connection } from '../adapters/dynamodb/connection.ts';
import { createStore } from '../adapters/dynamodb/store.ts';
import type { TokenNames } from '../adapters/http/identity.ts';
import { issuerAt } from '../adapters/oidc/issuer.ts';
import { sessionReader } from '../adapters/oidc/session.ts';
import { signInAt } from '../adapters/oidc/sign-in.ts';
import { bundledMission } from '../adapters/policy-file.ts';
import { publishedPolicies } from '../adapters/published-policies.ts';
import { topicAlerts } from '../adapters/sns/alerts.ts';
import { world } from '../adapters/world.ts';

/**
 * Joins the ports to their adapters. Each function calls what it needs, once, at cold start; a setting that it lacks fails
 * there. Nothing here keeps anything between calls but connections.
 */
const tables = (names: Partial<TableNames>) => createStore({ client: createClient(), world, ...notGiven, ...names });

type TableNames = Omit<Connection, 'client' | 'world'>;

/** For a function that has no business with a table: it does not know the name. */
const notGiven: TableNames = {
  requestsTable: 'not-given',
  auditTable: 'not-given',
  policiesTable: 'not-given',
  samplesTable: 'not-given',
  escalationsTable: 'not-given',
};

export const tokenNames = (): TokenNames => configuration(['nameClaim', 'rolesClaim', 'scopePrefix']);

export const webUrl = (): string => configuration(['webUrl']).webUrl;

export const deploymentVersion = (): string => process.env.AWS_LAMBDA_FUNCTION_VERSION ?? '$LATEST';

const alerts = () => topicAlerts(configuration(['alertsTopic']).alertsTopic);

/** Judges by the rules in force, decides and commits. */
export const requestPorts = () => {
  const store = tables(configuration(['requestsTable', 'auditTable', 'policiesTable']));
  return { store, policies: publishedPolicies(bundledMission(), store), world };
};

/** Also writes what a create brings about beside its request. */
export const askingPorts = () => {
  const store = tables(
    configuration(['requestsTable', 'auditTable', 'policiesTable', 'samplesTable', 'escalationsTable']),
  );
  return { store, policies: publishedPolicies(bundledMission(), store), world };
};

/** What lists and audits are read from. */
export const readingPorts = () => ({ store: tables(configuration(['requestsTable', 'auditTable'])), world });

export const waitingPorts = () => ({ store: tables(configuration(['requestsTable'])), world });

export const sweepingPorts = () => ({
  store: tables(configuration(['requestsTable', 'auditTable'])),
  alerts: alerts(),
  world,
});

export const dispatchingPorts = () => ({
  store: tables(configuration(['requestsTable'])),
  alerts: alerts(),
  world,
});

export const pagesSettings = () => configuration(['webUrl', 'issuer']);

/** Signing in and reading sessions, over what one issuer says of itself. */
export function identityProvider() {
  const settings = configuration([
    'webUrl',
    'issuer',
    'audience',
    'webClientId',
    'nameClaim',
    'rolesClaim',
    'scopePrefix',
  ]);
  const issuer = issuerAt(settings.issuer, settings.webClientId);
  return { signIn: signInAt(settings, issuer), readSession: sessionReader(settings, issuer) };
}
