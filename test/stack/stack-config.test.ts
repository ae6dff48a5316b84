import { describe, expect, it } from 'vitest';
import { configFromContext, readStackConfig } from '../../lib/stack-config.ts';

const readFrom = (context: Record<string, unknown>) => readStackConfig(configFromContext(context));

describe('the configuration', () => {
  it('needs nothing', () => {
    expect(readFrom({})).toEqual({
      region: 'eu-central-1',
      rolesClaim: 'cognito:groups',
      scopePrefix: 'countersign/',
      subscriptions: [],
      policyFile: 'policies/default.yaml',
      sweepMinutes: 1,
      waitConcurrency: 50,
    });
  });

  it('takes single members from the command line, over those of cdk.json', () => {
    const read = readFrom({
      countersign: { region: 'eu-west-1', sweepMinutes: 5, identity: { issuer: 'https://old.example' } },
      region: 'us-east-1',
      sweepMinutes: '3',
      issuer: 'https://id.example',
      audience: 'agents,web',
      webClientId: 'web',
    });
    expect(read).toMatchObject({
      region: 'us-east-1',
      sweepMinutes: 3,
      identity: { issuer: 'https://id.example', audience: ['agents', 'web'], webClientId: 'web' },
    });
  });

  it('takes the whole as JSON too', () => {
    expect(readFrom({ countersign: '{"waitConcurrency":9}' }).waitConcurrency).toBe(9);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ rolesclaim: 'groups' }, 'The context key "rolesclaim" is no setting; "rolesClaim" is.'],
    [{ Countersign: {} }, '"countersign" is.'],
    [{ subscriptions: '[]' }, '"subscriptions" is one under "countersign"'],
    [{ countersign: { rolesclaim: 'groups' } }, 'rolesclaim'],
    [{ countersign: 'region=eu-west-1' }, 'is no JSON object: region=eu-west-1'],
    [{ countersign: '[]' }, 'is no JSON object: []'],
    [{ countersign: 'null' }, 'is no JSON object: null'],
  ])('refuses the context %j, which would be overlooked', (context, message) => {
    expect(() => readFrom(context)).toThrow(message);
  });

  it('leaves other people’s context alone', () => {
    expect(readFrom({ 'aws:cdk:enable-path-metadata': true, '@aws-cdk/x:y': true, colour: 'red' })).toEqual(
      readFrom({}),
    );
  });

  const email = { protocol: 'email', endpoint: 'desk@example.com' };
  it.each<[string, unknown, RegExp]>([
    ['a member that does not exist', { regoin: 'eu-central-1' }, /regoin/],
    ['no region', { region: 'Frankfurt' }, /an AWS region, like eu-central-1/],
    ['half an identity', { identity: { issuer: 'https://id.example' } }, /audience[\s\S]*webClientId/],
    [
      'an issuer in clear',
      { identity: { issuer: 'http://id.example', audience: ['a'], webClientId: 'a' } },
      /http:\/\/ only on this machine/,
    ],
    ['a slash at the end', { webUrl: 'https://approvals.example/' }, /without a slash at the end/],
    [
      'a telephone number as people write it',
      { subscriptions: [{ protocol: 'sms', endpoint: '0151 1', roles: ['a'] }] },
      /E\.164/,
    ],
    [
      'a webhook in clear',
      { subscriptions: [{ protocol: 'https', endpoint: 'http://x.example', roles: ['a'] }] },
      /https:\/\//,
    ],
    ['a subscription without a role', { subscriptions: [{ ...email, roles: [] }] }, /at least one role/],
    ['a role that no token can carry', { subscriptions: [{ ...email, roles: ['[a b]'] }] }, /a role is/],
    [
      'one address twice',
      {
        subscriptions: [
          { ...email, roles: ['a'] },
          { ...email, roles: ['b'] },
        ],
      },
      /email desk@example.com is listed twice/,
    ],
    ['a scope prefix that Cognito cannot have', { scopePrefix: 'https://x/' }, /cannot be a Cognito scope prefix/],
    ['a sweep less than hourly', { sweepMinutes: 61 }, /sweepMinutes/],
  ])('refuses %s and says so', (_, given, message) => {
    expect(() => readStackConfig(given)).toThrow(message);
  });

  it('allows an issuer on this machine, for the local service', () => {
    const identity = { issuer: 'http://127.0.0.1:4400', audience: ['web'], webClientId: 'web' };
    expect(readStackConfig({ identity }).identity?.issuer).toBe(identity.issuer);
  });
});
