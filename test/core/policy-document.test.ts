import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CountersignError } from '../../core/errors.ts';
import { checkPolicyDocument, missionPolicy, type PolicyDocument } from '../../core/policy-document.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';

const defaultPolicy = readFileSync(new URL('../../policies/default.yaml', import.meta.url), 'utf8');

const withAction = (action: unknown, defaults: object = {}) => ({
  mission: 'test',
  defaults: { approverRole: 'clerk', ...defaults },
  actions: { pay: action },
});
const policyFor = (action: object, defaults?: object) =>
  missionPolicy(checkPolicyDocument(withAction(action, defaults))).actions.get('pay');

function refusalOf(document: unknown): string {
  try {
    if (typeof document === 'string') parsePolicyDocument(document);
    else checkPolicyDocument(document);
  } catch (error) {
    expect(error).toBeInstanceOf(CountersignError);
    expect((error as CountersignError).code).toBe('POLICY_INVALID');
    return (error as CountersignError).message;
  }
  throw new Error(`was not refused: ${JSON.stringify(document)}`);
}

describe('the support agent of the design', () => {
  const mission = missionPolicy(parsePolicyDocument(defaultPolicy));

  test('dual approval with escalation', () => {
    expect(mission.actions.get('issue_refund')).toEqual({
      policy: 'dual_approval',
      reason: 'Money leaves and does not come back',
      approverRole: 'support_manager',
      approvals: [{ role: 'support_manager', count: 2 }],
      timeoutSeconds: 7200,
      onTimeout: 'escalate',
      escalateTo: ['senior_manager'],
      validForSeconds: 3600,
      secretPaths: ['/actionArgs/card/number'],
      maxAttempts: 5,
      rules: [],
    });
  });

  test('every kind, with its defaults', () => {
    const summary = [...mission.actions].map(([name, policy]) => [
      name,
      policy.policy,
      policy.approvals,
      policy.sampleRate,
    ]);
    expect(summary).toEqual([
      ['add_vendor', 'approval_novel', [{ role: 'support_manager', count: 1 }], undefined],
      ['delete_account', 'dual_approval', [{ role: 'senior_manager', count: 2 }], undefined],
      ['draft_response', 'sampling', [], 0.05],
      ['issue_refund', 'dual_approval', [{ role: 'support_manager', count: 2 }], undefined],
      ['read_customer_record', 'autonomous', [], undefined],
      ['send_customer_email', 'approval_gate', [{ role: 'support_agent', count: 1 }], undefined],
    ]);
  });

  test('an action that is not listed is a gate with the defaults', () => {
    expect(mission.unlisted).toMatchObject({
      policy: 'approval_gate',
      approvals: [{ role: 'support_agent', count: 1 }],
      timeoutSeconds: 3600,
      onTimeout: 'reject',
    });
  });

  test('its roles and its version', () => {
    expect([...mission.roles]).toEqual(['senior_manager', 'support_agent', 'support_manager']);
    expect(mission.version).toMatch(/^[0-9a-f]{12}$/);
  });

  test('carried as JSON, in whatever order, it is the same policy of the same version', () => {
    const document = parsePolicyDocument(defaultPolicy);
    const reversed = Object.fromEntries(Object.entries(document.actions).reverse());
    const carried = checkPolicyDocument(JSON.parse(JSON.stringify({ ...document, actions: reversed })));
    expect(missionPolicy(carried)).toEqual(mission);
    expect([...missionPolicy(carried).actions.keys()]).toEqual([...mission.actions.keys()]);
    expect(missionPolicy(parsePolicyDocument(JSON.stringify(document)))).toEqual(mission);
  });

  test('any change is another version', () => {
    const document = parsePolicyDocument(defaultPolicy);
    const changed: PolicyDocument = { ...document, defaults: { ...document.defaults, timeoutSeconds: 3601 } };
    expect(missionPolicy(changed).version).not.toBe(mission.version);
  });
});

describe('defaults', () => {
  test.each([
    [true, 'low', 'autonomous'],
    [true, 'high', 'sampling'],
    [false, 'low', 'approval_novel'],
    [false, 'high', 'approval_gate'],
  ])('the matrix: reversible %s and error cost %s is %s', (reversible, errorCost, policy) => {
    expect(policyFor({ risk: { reversible, errorCost }, reason: 'r' })?.policy).toBe(policy);
  });

  test("the document's own defaults, then the built-in ones", () => {
    const escalating = { onTimeout: 'escalate', escalateTo: ['boss'], timeoutSeconds: 60, validForSeconds: 30 };
    expect(policyFor({ policy: 'approval_gate', reason: 'r' }, escalating)).toMatchObject(escalating);
    expect(policyFor({ policy: 'approval_gate', reason: 'r', onTimeout: 'reject' }, escalating)).toMatchObject({
      onTimeout: 'reject',
      escalateTo: [],
    });
    expect(policyFor({ policy: 'sampling', reason: 'r' })).toMatchObject({
      timeoutSeconds: 3600,
      validForSeconds: 3600,
      onTimeout: 'reject',
      sampleRate: 0.05,
    });
  });

  test('a list of approvals stands as it is', () => {
    const approvals = [
      { role: 'finance', count: 1 },
      { role: 'security', count: 2 },
    ];
    const mission = missionPolicy(checkPolicyDocument(withAction({ policy: 'approval_gate', reason: 'r', approvals })));
    expect(mission.actions.get('pay')?.approvals).toEqual(approvals);
    expect(mission.roles).toEqual(new Set(['clerk', 'finance', 'security']));
  });

  test('advice may proceed', () => {
    const advice = { policy: 'approval_gate', reason: 'r', onTimeout: 'proceed', advisory: true };
    expect(policyFor(advice)?.onTimeout).toBe('proceed');
  });

  test('names of prototypes are names like others', () => {
    const document = { ...withAction(undefined), actions: { constructor: { policy: 'autonomous', reason: 'r' } } };
    const { actions } = missionPolicy(checkPolicyDocument(document));
    expect(actions.get('constructor')?.policy).toBe('autonomous');
    expect(actions.get('toString')).toBeUndefined();
    expect(actions.get('__proto__')).toBeUndefined();
  });
});

const gate = { policy: 'approval_gate', reason: 'r' };

describe('what is refused, with its place, what was given and what is allowed', () => {
  test.each<[unknown, string]>([
    [withAction({ ...gate, displai: 1 }), '/actions/pay does not know "displai"; allowed are policy, risk, reason'],
    [withAction({ ...gate, policy: 'gate' }), '/actions/pay/policy is "gate"; allowed are autonomous, sampling'],
    [withAction({ reason: 'r' }), '/actions/pay needs either policy or risk'],
    [withAction({ ...gate, risk: { reversible: true, errorCost: 'low' } }), 'needs either policy or risk'],
    [withAction({ policy: 'approval_gate' }), '/actions/pay/reason is missing; a string is needed'],
    [withAction({ ...gate, onTimeout: 'escalate' }), '/actions/pay/escalateTo is missing'],
    [withAction({ ...gate, escalateTo: ['boss'] }), 'goes with onTimeout: escalate only'],
    [withAction({ ...gate, onTimeout: 'proceed' }), 'allowed only with advisory: true'],
    [withAction({ ...gate, advisory: true }), 'goes with onTimeout: proceed only'],
    [withAction({ policy: 'dual_approval', reason: 'r', onTimeout: 'proceed', advisory: true }), 'never allowed where'],
    [
      withAction({ ...gate, onTimeout: 'proceed', advisory: true, approvals: [{ role: 'a', count: 2 }] }),
      'never allowed where',
    ],
    [withAction(gate, { onTimeout: 'proceed' }), '/defaults/onTimeout is "proceed"; allowed are reject, escalate'],
    [withAction(gate, { onTimeout: 'escalate' }), 'onTimeout: escalate and escalateTo go together'],
    [withAction({ ...gate, approverRole: 'two words' }), 'is "two words"; letters, digits'],
    [withAction({ ...gate, approvals: [{ role: 'a', count: 0 }] }), '/approvals/0/count is 0; at least 1'],
    [
      withAction({
        ...gate,
        approvals: [
          { role: 'a', count: 1 },
          { role: 'a', count: 1 },
        ],
      }),
      'raise its count',
    ],
    [withAction({ policy: 'autonomous', reason: 'r', approvals: [{ role: 'a', count: 1 }] }), 'not with autonomous'],
    [withAction({ ...gate, timeoutSeconds: 1.5 }), '/timeoutSeconds is 1.5; a whole number is needed'],
    [withAction({ ...gate, timeoutSeconds: '60' }), 'is "60"; a number is needed'],
    [withAction({ ...gate, sampleRate: 0.5 }), 'goes with sampling only'],
    [withAction({ policy: 'sampling', reason: 'r', sampleRate: 2 }), '/sampleRate is 2; at most 1'],
    [withAction({ ...gate, noveltyKey: ['/a'] }), 'goes with approval_novel only'],
    [withAction({ policy: 'approval_novel', reason: 'r', noveltyKey: ['a'] }), 'is "a"; a JSON Pointer'],
    [withAction({ ...gate, secretPaths: ['/card/number'] }), 'is "/card/number"; a JSON Pointer into the request'],
    [withAction({ ...gate, secretPaths: ['/actionArgs'] }), 'is "/actionArgs"; a JSON Pointer into the request'],
    [{ mission: 'm', actions: {} }, '/defaults is missing; an object is needed'],
    [{ ...withAction(gate), mission: 'a/b' }, '/mission is "a/b"'],
    [
      JSON.parse('{"mission":"m","defaults":{"approverRole":"a"},"actions":{"__proto__":{"policy":"autonomous"}}}'),
      '/actions/__proto__',
    ],
    [JSON.parse('{"mission":"m","defaults":{"approverRole":"a","__proto__":{}},"actions":{}}'), '__proto__'],
    [null, 'the document is null'],
    ['', 'the document is null'],
    ['mission: a\nmission: b', 'Map keys must be unique at line 2'],
    ['a: &x [1]\nb: *x', 'aliases (*name) are not allowed'],
    ['a: !!js/function x', 'Unresolved tag'],
    ['a: [', 'line 1'],
    ['a: 1\n---\nb: 2', 'multiple documents'],
    ['['.repeat(100_000), 'no readable YAML'],
  ])('%j', (document, message) => {
    expect(refusalOf(document).slice(0, 5_000)).toContain(message);
  });

  test('all problems at once', () => {
    const message = refusalOf({
      mission: 5,
      defaults: { approverRole: 'a', hours: 1 },
      actions: { a: { policy: 'gate', reason: 'r' }, b: { ...gate, onTimeout: 'proceed' }, c: { reason: '' } },
    });
    for (const place of ['/mission', '/defaults', '/actions/a/policy', '/actions/b/onTimeout', '/actions/c/reason'])
      expect(message).toContain(place);
  });
});

test('what a function needs to read the checked document imports no YAML', () => {
  const reached = new Set<string>();
  const visit = (file: URL) => {
    if (reached.has(file.href)) return;
    reached.add(file.href);
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/ from '([^']+)';$/gm)) {
      if (from.startsWith('.')) visit(new URL(from, file));
      else reached.add(from);
    }
  };
  visit(new URL('../../core/policy-document.ts', import.meta.url));
  expect([...reached]).toContain('zod');
  expect([...reached]).not.toContain('yaml');
});
