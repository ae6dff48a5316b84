import { describe, expect, test } from 'vitest';
import { type Claims, principalFrom } from '../../adapters/http/identity.ts';

const names = { nameClaim: 'sub', rolesClaim: 'cognito:groups', scopePrefix: 'countersign/' };
const rolesOf = (claim: unknown) => principalFrom({ sub: 'a', 'cognito:groups': claim }, names).roles;

describe('who calls', () => {
  test('is read from claims as API Gateway hands them on', () => {
    const claims = {
      sub: '7c1e',
      username: 'alice',
      email: 'Alice@example.org',
      client_id: 'web',
      scope: 'openid countersign/decide countersign/audit other/policies',
      'cognito:groups': '[support_agent support_manager]',
    };
    expect(principalFrom(claims, names)).toEqual({
      id: '7c1e',
      aliases: ['alice', 'Alice@example.org', 'web'],
      roles: ['support_agent', 'support_manager'],
      scopes: ['decide', 'audit'],
    });
  });

  test('is called as the name claim says; every other name of the same person still counts as that person', () => {
    const person = { sub: '93b4c8f2-70a1', username: 'alice', client_id: 'web', email: 'alice@example.org' };
    const { id, aliases } = principalFrom(person, { ...names, nameClaim: 'username' });
    expect([id, aliases]).toEqual(['alice', ['93b4c8f2-70a1', 'alice@example.org', 'web']]);
  });

  test.each([undefined, '', 7])(
    'is called by the subject where the name claim is %j, as in an agent’s own token',
    (name) => {
      const agent = { sub: '4ad0client', client_id: '4ad0client', token_use: 'access', username: name };
      expect(principalFrom(agent, { ...names, nameClaim: 'username' })).toMatchObject({
        id: '4ad0client',
        aliases: [],
      });
    },
  );

  test.each<[string, Claims | undefined]>([
    ['no token', undefined],
    ['no subject', {}],
    ['an empty subject', { sub: '' }],
    ['a subject that is no text', { sub: 7 }],
  ])('is nobody with %s', (_what, claims) => {
    expect(() => principalFrom(claims, names)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
  });
});

describe('roles', () => {
  test.each<[unknown, string[]]>([
    ['[a b]', ['a', 'b']],
    ['a b', ['a', 'b']],
    ['[a]', ['a']],
    ['[]', []],
    ['', []],
    [
      ['a', 'b.c-d_e'],
      ['a', 'b.c-d_e'],
    ],
    ['[a a]', ['a']],
    [undefined, []],
    [7, []],
  ])('%j are %j', (claim, roles) => {
    expect(rolesOf(claim)).toEqual(roles);
  });

  test.each<[unknown]>([[['x admin']], ['[x] [admin'], [['[admin]']], ['[a,admin]'], [['admin\u200b']], [[['admin']]]])(
    'none is smuggled in by %j',
    (claim) => {
      expect(rolesOf(claim)).not.toContain('admin');
    },
  );
});

test('a scope counts only under the prefix, whole', () => {
  const scopes = (scope: string) => principalFrom({ sub: 'a', scope }, names).scopes;
  expect(scopes('decide countersign/decider xcountersign/decide COUNTERSIGN/decide')).toEqual([]);
  expect(scopes('countersign/decide')).toEqual(['decide']);
});
