import { type Candidate, candidatesOf } from './candidate-values.ts';
import { canonicalJson } from './canonical-json.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { MissionPolicy } from './policy.ts';
import { judgeAlone, type PolicyCase, stepOf } from './policy-case.ts';
import type { PolicyDocument } from './policy-schema.ts';

type Request = Omit<PolicyCase, 'expect'>;

/** So many requests are tried before a search is given up. */
const mostTries = 20_000;

/**
 * The smallest request found on which a mission and a mutant of one of its rules differ, as a case that the mission passes:
 * made of the values around the constants of the conditions, and of the cases that there are.
 */
export function witnessOf(
  mission: MissionPolicy,
  mutant: { ruleId: string; place: string; mission: MissionPolicy },
  document: PolicyDocument,
  cases: readonly PolicyCase[],
): PolicyCase | undefined {
  const action = actionOf(mutant.place);
  const rules = [...(document.rules ?? []), ...(action === undefined ? [] : (document.actions[action]?.rules ?? []))];
  const actions = action === undefined ? [...Object.keys(document.actions), 'any_other_action'] : [action];
  const ofRule = rules.filter(({ id }) => id === mutant.ruleId).map(({ when }) => when);
  const search = (sources: string[]) => smallest(mission, mutant.mission, requestsFrom(sources, actions, cases));
  return search(ofRule) ?? search(rules.map(({ when }) => when));
}

const actionOf = (place: string): string | undefined =>
  /^\/actions\/([^/]+)\//.exec(place)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');

function smallest(mission: MissionPolicy, mutant: MissionPolicy, requests: Iterable<Request>): PolicyCase | undefined {
  let best: { request: Request; difference: Difference; size: number } | undefined;
  let tries = 0;
  for (const request of requests) {
    if (++tries > mostTries) break;
    const size = canonicalJson(request as JsonObject).length;
    if (best?.difference === 'effect' && best.size <= size) continue;
    const difference = differ(mission, mutant, request);
    if (difference === undefined) continue;
    const rank = best ? differences.indexOf(difference) - differences.indexOf(best.difference) : -1;
    if (rank < 0 || (rank === 0 && best && size < best.size)) best = { request, difference, size };
  }
  if (!best) return undefined;
  const { difference } = best;
  const request = without(best.request, (smaller) => differ(mission, mutant, smaller) === difference);
  const { effect, matched, approvals } = judgeAlone(mission, stepOf(request, mission.missionId));
  const expected = { ...request, expect: effect };
  if (difference === 'effect') return expected;
  return difference === 'approvals'
    ? { ...expected, approvals }
    : { ...expected, rules: matched.map(({ ruleId }) => ruleId) };
}

/** What a case would have to name to tell the two apart; the first is the plainest. */
const differences = ['effect', 'approvals', 'rules'] as const;
type Difference = (typeof differences)[number];

function differ(mission: MissionPolicy, mutant: MissionPolicy, request: Request): Difference | undefined {
  const step = stepOf(request, mission.missionId);
  const one = judgeAlone(mission, step);
  const other = judgeAlone(mutant, step);
  if (one.effect !== other.effect) return 'effect';
  if (canonicalJson(one.approvals) !== canonicalJson(other.approvals)) return 'approvals';
  const ids = ({ matched }: typeof one) => matched.map(({ ruleId }) => ruleId).join(' ');
  return ids(one) === ids(other) ? undefined : 'rules';
}

/** The request without the arguments that it does not need. */
function without(request: Request, holds: (smaller: Request) => boolean): Request {
  let smaller = request;
  for (const name of Object.keys(request.args)) {
    const { [name]: _left, ...args } = smaller.args;
    if (holds({ ...smaller, args })) smaller = { ...smaller, args };
  }
  return smaller;
}

/** Requests made of the candidates alone, all combinations; then the cases with one or two places changed. */
function* requestsFrom(sources: string[], actions: readonly string[], cases: readonly PolicyCase[]): Iterable<Request> {
  const candidates = candidatesOf(sources);
  const named = candidates.filter(({ path }) => path.join('.') === 'action.name').flatMap(({ values }) => values);
  const facts = candidates.filter(({ path }) => path[0] !== 'action');
  const names = [...named.filter((name) => typeof name === 'string' && actions.includes(name)).map(String), ...actions];
  for (const action of new Set(names)) {
    const own = cases
      .filter((given) => given.action === action)
      .map(({ expect: _e, rules: _r, approvals: _a, name: _n, ...request }) => request);
    yield* combinations({ action, args: {} }, facts);
    for (const request of own)
      for (const [index, first] of facts.entries()) {
        yield* combinations(request, [first]);
        for (const second of facts.slice(index + 1)) yield* combinations(request, [first, second]);
      }
  }
}

function* combinations(request: Request, candidates: readonly Candidate[]): Iterable<Request> {
  const [first, ...rest] = candidates;
  if (!first) {
    yield request;
    return;
  }
  for (const value of [undefined, ...first.values]) {
    const next = value === undefined ? request : withFact(request, first.path, value);
    if (next) yield* combinations(next, rest);
  }
}

function withFact(request: Request, [root = '', ...path]: string[], value: JsonValue): Request | undefined {
  if (root === 'args') {
    const args = placed(request.args, path, value);
    return isObject(args) ? { ...request, args } : undefined;
  }
  const member = path[0];
  if (root === 'result') return { ...request, phase: 'after', result: placed(request.result ?? null, path, value) };
  if (root === 'phase') return value === 'before' || value === 'after' ? { ...request, phase: value } : undefined;
  if (root === 'attempt')
    return Number.isInteger(value) && Number(value) >= 1 ? { ...request, attempt: Number(value) } : undefined;
  if (root === 'agent' && member === 'confidence')
    return typeof value === 'number' && value >= 0 && value <= 1 ? { ...request, confidence: value } : undefined;
  if (root === 'window') return withWindow(request, path, value);
  if (typeof value !== 'string' || value === '') return undefined;
  if (root === 'agent') return { ...request, agent: value };
  return root === 'subject' ? { ...request, onBehalfOf: value } : undefined;
}

function withWindow(request: Request, [id = '', member]: string[], value: JsonValue): Request | undefined {
  if (typeof value !== 'number' || value < 0 || (member === 'count' && !Number.isInteger(value))) return undefined;
  const window = {
    sum: 0,
    count: 0,
    ...request.windows?.[id],
    ...(member === 'count' ? { count: value } : { sum: value }),
  };
  return { ...request, windows: { ...request.windows, [id]: window } };
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy in which the place holds the value; `*` is a list's first element. */
function placed(into: JsonValue, [key, ...rest]: string[], value: JsonValue): JsonValue {
  if (key === undefined) return value;
  if (key === '*') return [placed(Array.isArray(into) ? (into[0] ?? null) : null, rest, value)];
  const members = isObject(into) ? into : {};
  const member = Object.hasOwn(members, key) ? (members[key] ?? null) : null;
  return Object.defineProperty({ ...members }, key, {
    value: placed(member, rest, value),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
