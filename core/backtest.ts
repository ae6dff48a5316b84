import * as z from 'zod';
import { jsonObject, jsonValue } from './fields.ts';
import type { Effect, MissionPolicy } from './policy.ts';
import { judgeAlone } from './policy-case.ts';

/** A request as it is answered and exported, as far as it is needed here. */
export const pastRequest = z.object({
  requestId: z.string(),
  runId: z.string(),
  missionId: z.string(),
  phase: z.enum(['before', 'after']).default('before'),
  actionName: z.string(),
  actionArgs: jsonObject,
  actionResult: jsonValue.optional(),
  agentConfidence: z.number().optional(),
  onBehalfOf: z.string().optional(),
  requestedBy: z.string(),
  requestedAt: z.string(),
  status: z.enum(['PENDING', 'APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED']),
  approvals: z.array(z.object({ role: z.string(), count: z.int() })),
  attempt: z.int().default(1),
  decision: z.object({ source: z.enum(['human', 'policy', 'timeout']) }).optional(),
});

export type PastRequest = z.infer<typeof pastRequest>;

/**
 * What became of a request: it `ran` by itself or was `stopped` by a rule; or people were asked, and `approved`, `refused` (also
 * by taking an approval back) or `responded`, or did not: `unanswered`, `withdrawn` by the agent, still `waiting`.
 */
export const fates = [
  'ran',
  'stopped',
  'approved',
  'refused',
  'responded',
  'unanswered',
  'withdrawn',
  'waiting',
] as const;
export type Fate = (typeof fates)[number];

export const effects: readonly Effect[] = ['allow', 'pause', 'stop'];

/** How a request would go otherwise than it went; a request of which nothing changes has none. */
export const changes = [
  'prompt vanishes',
  'refusal let through',
  'other prompt vanishes',
  'newly asked',
  'newly stopped',
  'refused by rule',
  'no longer stopped',
] as const;
type Change = (typeof changes)[number];

export interface Replayed {
  request: PastRequest;
  fate: Fate;
  now: Effect;
  matched: string[];
  change?: Change;
}

export interface Backtest {
  replayed: Replayed[];
  /** How many of each fate would be of each effect. */
  matrix: Record<Fate, Record<Effect, number>>;
  changes: Record<Change, number>;
  /** Requests of other missions, left out. */
  otherMissions: number;
  /** Requests with arguments hidden by policy: a condition on these sees the mask. */
  masked: number;
}

/** Every past request of the mission under the policy, against what was decided. Precedents and windows of that time are not known. */
export function backtest(mission: MissionPolicy, requests: readonly PastRequest[]): Backtest {
  const own = requests.filter(({ missionId }) => missionId === mission.missionId);
  const replayed = own.map((request): Replayed => {
    const { effect, matched } = judgeAlone(mission, { ...request, now: request.requestedAt });
    const fate = fateOf(request);
    const change = changeOf(fate, effect);
    return { request, fate, now: effect, matched: matched.map(({ ruleId }) => ruleId), ...(change && { change }) };
  });
  const count = (holds: (one: Replayed) => boolean) => replayed.filter(holds).length;
  const counts = <Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value) =>
    Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
  return {
    replayed,
    matrix: counts(fates, (fate) => counts(effects, (now) => count((one) => one.fate === fate && one.now === now))),
    changes: counts(changes, (change) => count((one) => one.change === change)),
    otherMissions: requests.length - own.length,
    masked: own.filter(({ actionArgs }) => /"\[hidden by policy, \d+ characters\]"/.test(JSON.stringify(actionArgs)))
      .length,
  };
}

function fateOf({ status, decision, approvals }: PastRequest): Fate {
  switch (status) {
    case 'PENDING':
      return 'waiting';
    case 'CANCELLED':
      return 'withdrawn';
    case 'TIMED_OUT':
      return 'unanswered';
    case 'RESPONDED':
      return 'responded';
    case 'REJECTED':
      return decision?.source === 'policy' ? 'stopped' : 'refused';
    case 'REVOKED':
      if (decision?.source === 'human') return 'refused';
      return approvals.length > 0 ? 'approved' : 'ran';
    case 'APPROVED':
      if (decision?.source === 'timeout') return 'unanswered';
      return decision?.source === 'policy' ? 'ran' : 'approved';
  }
}

function changeOf(fate: Fate, now: Effect): Change | undefined {
  if (fate === 'ran' || fate === 'stopped') {
    if (now === 'pause') return 'newly asked';
    if (fate === 'ran') return now === 'stop' ? 'newly stopped' : undefined;
    return now === 'allow' ? 'no longer stopped' : undefined;
  }
  if (now === 'pause') return undefined;
  if (now === 'stop') return fate === 'refused' ? 'refused by rule' : 'newly stopped';
  if (fate === 'approved') return 'prompt vanishes';
  return fate === 'refused' ? 'refusal let through' : 'other prompt vanishes';
}
