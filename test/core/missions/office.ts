import { MemoryStore } from '../../../adapters/memory/store.ts';
import { publishedPolicies } from '../../../adapters/published-policies.ts';
import type { JsonObject, JsonValue } from '../../../core/json.ts';
import { missionPolicy } from '../../../core/policy-document.ts';
import { parsePolicyDocument } from '../../../core/policy-yaml.ts';
import type { Policies, StoredRequest } from '../../../core/ports.ts';
import type { Principal } from '../../../core/principal.ts';
import { createRequest } from '../../../core/use-cases/create-request.ts';
import { decideRequest } from '../../../core/use-cases/decide-request.ts';
import { type Publication, publishPolicy } from '../../../core/use-cases/publish-policy.ts';
import { readPolicy } from '../../../core/use-cases/read-policy.ts';
import { reevaluateRequest } from '../../../core/use-cases/reevaluate-request.ts';
import { simulateRequest } from '../../../core/use-cases/simulate-request.ts';
import { verifyRun } from '../../../core/use-cases/verify-run.ts';
import type { Store } from '../request-life/altered-store.ts';
import { bot } from '../request-life/desk.ts';
import { TestWorld } from '../request-life/world.ts';

const deployed = missionPolicy(
  parsePolicyDocument(`
mission: default
defaults: { approverRole: support_agent, timeoutSeconds: 600 }
actions:
  look: { policy: autonomous, reason: Read-only }
`),
);

export const author = (id: string): Principal => ({ id, aliases: [], roles: [], scopes: ['policies'] });
const erin = author('erin');

/** A mission that treats one action so, with these rules. */
export const missionOf = (mission: string, policy = 'autonomous', rules: JsonObject[] = []): JsonObject => ({
  mission,
  defaults: { approverRole: 'support_agent', timeoutSeconds: 600 },
  actions: { pay: { policy, reason: 'Money leaves' } },
  rules,
});

/** The missions on the memory store: who publishes, asks and decides. */
export class Office {
  readonly world = new TestWorld(1);
  readonly policies: Policies;
  store: Store;
  #asked = 0;

  constructor(store: Store = new MemoryStore()) {
    this.store = store;
    this.policies = publishedPolicies(deployed, { readPublished: (...of) => this.store.readPublished(...of) });
  }

  put(missionId: string, body: JsonObject, principal = erin) {
    return publishPolicy(this, { missionId, body, principal, until: this.world.in(600) });
  }

  async publish(document: JsonObject, more: JsonObject = {}, principal = erin): Promise<Publication> {
    const result = await this.put(String(document.mission), { document, ...more }, principal);
    if ('approval' in result) throw new Error('it has to be approved first');
    return result.publication;
  }

  /** Another action every time: one that equals a pending one would be that one. */
  async ask(missionId: string, more: JsonObject = {}, principal = bot): Promise<StoredRequest> {
    const actionArgs = { amount: 1, number: ++this.#asked };
    const body = { runId: 'run-1', actionName: 'pay', actionArgs, missionId, ...more };
    return (await createRequest(this, { body, principal, until: this.world.in(5) })).request;
  }

  async decide(requestId: string, principal: Principal, body: JsonValue) {
    return (await decideRequest(this, { requestId, body, principal, until: this.world.in(5) })).state;
  }

  async reevaluate(requestId: string, principal: Principal) {
    return (await reevaluateRequest(this, { requestId, body: {}, principal, until: this.world.in(5) })).state;
  }

  read(missionId: string, version?: string) {
    return readPolicy(this, { missionId, query: { version } });
  }

  simulate(missionId: string, body: JsonObject, principal = erin) {
    return simulateRequest(this, { missionId, body, principal });
  }

  verify(runId: string) {
    return verifyRun(this, { runId });
  }

  async entries(runId: string) {
    return (await this.store.entries(runId, 0, 1000)).map(({ canonical }) => JSON.parse(canonical));
  }
}
