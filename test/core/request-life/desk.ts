import { expect } from 'vitest';
import { MemoryStore } from '../../../adapters/memory/store.ts';
import { publishedPolicies } from '../../../adapters/published-policies.ts';
import { CountersignError, type ErrorCode } from '../../../core/errors.ts';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import { missionPolicy } from '../../../core/policy-document.ts';
import { parsePolicyDocument } from '../../../core/policy-yaml.ts';
import type { AlertMessage, Policies, StoredRequest } from '../../../core/ports.ts';
import type { Principal } from '../../../core/principal.ts';
import type { RequestState } from '../../../core/request.ts';
import { cancelRequest } from '../../../core/use-cases/cancel-request.ts';
import { claimRequest } from '../../../core/use-cases/claim-request.ts';
import { createRequest } from '../../../core/use-cases/create-request.ts';
import { decideRequest } from '../../../core/use-cases/decide-request.ts';
import { dispatchOwed } from '../../../core/use-cases/dispatch-owed.ts';
import { reportOutcome } from '../../../core/use-cases/report-outcome.ts';
import { revokeApproval } from '../../../core/use-cases/revoke-approval.ts';
import { sweepTimeouts } from '../../../core/use-cases/sweep-timeouts.ts';
import { verifyRun } from '../../../core/use-cases/verify-run.ts';
import type { Store } from './altered-store.ts';
import { TestWorld } from './world.ts';

const policy = missionPolicy(
  parsePolicyDocument(`
mission: default
defaults: { approverRole: support_agent, timeoutSeconds: 600 }
actions:
  look: { policy: autonomous, reason: Read-only }
  draft: { policy: sampling, sampleRate: 0.5, reason: Customers read it }
  send: { policy: approval_gate, reason: Cannot be taken back }
  refund:
    policy: dual_approval
    approverRole: support_manager
    timeoutSeconds: 7200
    onTimeout: escalate
    escalateTo: [senior_manager, director]
    secretPaths: [/actionArgs/card/number]
    reason: Money leaves
  pay:
    policy: approval_gate
    approvals: [{ role: finance, count: 1 }, { role: security, count: 1 }]
    onTimeout: escalate
    escalateTo: [director]
    reason: Two views
  remind: { policy: approval_gate, onTimeout: proceed, advisory: true, reason: Advice only }
`),
);

const person = (id: string, ...roles: string[]): Principal => ({
  id,
  aliases: [`${id}@example.org`],
  roles,
  scopes: ['decide'],
});
const agent = (id: string): Principal => ({ id, aliases: [], roles: [], scopes: ['request'] });

export const people = {
  alice: person('alice', 'support_agent', 'support_manager'),
  bob: person('bob', 'support_manager'),
  dan: person('dan', 'support_manager'),
  carol: person('carol', 'senior_manager'),
  fay: person('fay', 'finance'),
  fred: person('fred', 'finance'),
  sue: person('sue', 'security', 'finance'),
  dora: person('dora', 'director'),
};
export const bot = agent('support-bot');
export const otherBot = agent('billing-bot');
export const webUrl = 'https://approve.example';

/** One service on the memory store, with short names for what agents and people do. */
export class Desk {
  readonly world: TestWorld;
  readonly published: AlertMessage[] = [];
  readonly policies: Policies;
  readonly alerts = {
    publish: async (message: AlertMessage) => {
      if (this.topicFails) throw new Error('the topic does not answer');
      this.published.push(message);
    },
  };
  topicFails = false;
  store: Store;

  constructor({
    seed = 1,
    store = new MemoryStore(),
    policy: own,
  }: { seed?: number; store?: Store; policy?: string } = {}) {
    this.world = new TestWorld(seed);
    this.store = store;
    this.policies = publishedPolicies(own === undefined ? policy : missionPolicy(parsePolicyDocument(own)), store);
  }

  async ask(
    actionName: string,
    more: JsonObject = {},
    idempotencyKey?: string,
    principal = bot,
  ): Promise<StoredRequest> {
    const body = { runId: 'run-1', actionName, actionArgs: { to: 'ann@example.org' }, ...more };
    return (await createRequest(this, { body, idempotencyKey, principal, until: this.world.in(5) })).request;
  }

  /** Sees what would run now and votes on that, unless `more` says what was seen. */
  async vote(requestId: string, principal: Principal, decision: string, more: JsonObject = {}): Promise<RequestState> {
    const argsDigest = (await this.state(requestId)).effectiveDigest;
    const note: JsonObject = decision === 'reject' ? { note: 'no' } : {};
    return this.decide(requestId, principal, { decision, argsDigest, ...note, ...more });
  }

  async decide(requestId: string, principal: Principal, body: JsonValue): Promise<RequestState> {
    return (await decideRequest(this, { requestId, body, principal, until: this.world.in(5) })).state;
  }

  /** Claims the action as it was asked, unless `more` says otherwise. */
  async claim(requestId: string, more: JsonObject = {}, principal = bot) {
    const { state, contents } = await this.read(requestId);
    const { actionArgs } = JSON.parse(contents.get(state.argsDigest) ?? '{}');
    const body = { actionName: state.actionName, actionArgs, ...more };
    return claimRequest(this, { requestId, body, principal, until: this.world.in(5) });
  }

  async cancel(requestId: string, principal = bot): Promise<RequestState> {
    return (await cancelRequest(this, { requestId, body: {}, principal, until: this.world.in(5) })).state;
  }

  async revoke(requestId: string, principal: Principal, body: JsonValue = {}): Promise<RequestState> {
    return (await revokeApproval(this, { requestId, body, principal, until: this.world.in(5) })).state;
  }

  async report(requestId: string, body: JsonObject): Promise<RequestState> {
    return (await reportOutcome(this, { requestId, body, principal: bot, until: this.world.in(5) })).state;
  }

  sweep(ports: { store?: Store } = {}) {
    const { store, alerts, world } = this;
    return sweepTimeouts({ store, alerts, world, ...ports }, { until: world.in(30), webUrl });
  }

  dispatch(requestId: string) {
    return dispatchOwed(this, { requestId, webUrl });
  }

  verify(runId = 'run-1') {
    return verifyRun(this, { runId });
  }

  async read(requestId: string): Promise<StoredRequest> {
    const request = await this.store.readRequest(requestId);
    if (!request) throw new Error(`no request ${requestId}`);
    return request;
  }

  async state(requestId: string): Promise<RequestState> {
    return (await this.read(requestId)).state;
  }

  /** The types of the run's entries in order, or of those about one request. */
  async audit(requestId?: string, runId = 'run-1'): Promise<string[]> {
    const entries = (await this.store.entries(runId, 0, 10_000)).map(({ canonical }) => JSON.parse(canonical));
    return entries.filter((entry) => !requestId || entry.requestId === requestId).map(({ type }) => type);
  }
}

/** The domain error with which something was refused. */
export async function refusal(attempt: Promise<unknown>, code: ErrorCode): Promise<CountersignError> {
  const error = await attempt.then(
    (value) => expect.fail(`was not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CountersignError);
  expect(error).toMatchObject({ code });
  return error as CountersignError;
}
