import { readFileSync } from 'node:fs';
import { problems } from '../../adapters/http/problem.ts';
import { MemoryStore } from '../../adapters/memory/store.ts';
import { fromMilliseconds, toMilliseconds } from '../../core/instant.ts';
import type { JsonObject } from '../../core/json.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';
import type { Policies, World } from '../../core/ports.ts';
import type { Principal } from '../../core/principal.ts';
import { createRequest } from '../../core/use-cases/create-request.ts';
import { pages } from '../../web/app.ts';

export const webUrl = 'https://countersign.example';
export const issuer = 'https://issuer.example/pool';

const person = (id: string, roles: string[], scopes: Principal['scopes'] = ['decide']): Principal => ({
  id,
  aliases: [],
  roles,
  scopes,
});

const people: Record<string, Principal> = {
  alice: person('alice', ['support_agent', 'support_manager']),
  bob: person('bob', ['support_manager']),
  carol: person('carol', ['senior_manager']),
  dave: person('dave', [], ['audit']),
  zoe: person('zoe', ['warehouse']),
};

const mission = missionPolicy(parsePolicyDocument(readFileSync('policies/default.yaml', 'utf8')));
const policies: Policies = {
  deployed: mission,
  find: async (_, version) => (version === mission.version ? mission : undefined),
};
const bot = person('support-bot', [], ['request']);

/** The pages over the store in memory: the tokens are the people's names, the clock stands still. */
export function openSeat() {
  const store = new MemoryStore();
  let now = toMilliseconds('2026-11-30T14:00:00.000Z');
  let drawn = 0;
  const world: World = {
    now: () => fromMilliseconds(now),
    randomId: () => String(++drawn).padStart(22, '0'),
    draw: () => 0.5,
    pause: async () => {},
  };
  const faults: unknown[] = [];
  const app = pages({
    webUrl,
    issuer,
    ports: { store, policies, world },
    signIn: {
      begin: async (returnTo) => ({ address: `${issuer}/authorize`, pending: { state: 's', verifier: 'v', returnTo } }),
      finish: async (query) => ({ token: new URLSearchParams(query).get('code') ?? '', seconds: 60 }),
    },
    readSession: async (token) => (Object.hasOwn(people, token) ? people[token] : undefined),
    problems,
    until: () => now + 1000,
    report: (error) => `fault-${faults.push(error)}`,
  });

  const call = (who: string | undefined, path: string, init: RequestInit = {}) =>
    app.request(webUrl + path, {
      ...init,
      headers: { ...(who !== undefined && { cookie: `__Host-countersign=${who}` }), ...init.headers },
    });

  return {
    store,
    faults,
    advance: (seconds: number) => {
      now += seconds * 1000;
    },
    ask: async (body: JsonObject): Promise<string> => {
      const asked = { runId: 'run-1', ...body };
      const { request } = await createRequest(
        { store, policies, world },
        { body: asked, principal: bot, until: now + 1000 },
      );
      return request.state.requestId;
    },
    open: (who: string | undefined, path: string) => call(who, path),
    /** As a browser sends the form of a page of ours; `headers` change what the browser says. */
    send: (
      who: string | undefined,
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = {},
    ) =>
      call(who, path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
      }),
  };
}
