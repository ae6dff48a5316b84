import { describe, expect, it } from 'vitest';
import { ofType, one, templateFor } from './synthesised.ts';

describe('subscriptions', () => {
  const template = templateFor({
    subscriptions: [
      { protocol: 'email', endpoint: 'desk@example.com', roles: ['support_agent'] },
      { protocol: 'sms', endpoint: '+4915112345678', roles: ['support_manager', 'senior_manager'] },
      { protocol: 'https', endpoint: 'https://pager.example/alerts?team=1', roles: ['senior_manager'] },
    ],
    alarmEmail: 'ops@example.com',
  });
  const subscriptions = ofType(template, 'AWS::SNS::Subscription').map(([, { Properties }]) => Properties);

  it('reach e-mail, SMS and https, each only for its roles and never for what is meant for one person', () => {
    expect(
      subscriptions.slice(0, 3).map(({ Protocol, Endpoint, FilterPolicy }) => [Protocol, Endpoint, FilterPolicy]),
    ).toEqual([
      ['email', 'desk@example.com', { role: ['support_agent'], approver: [{ exists: false }] }],
      ['sms', '+4915112345678', { role: ['support_manager', 'senior_manager'], approver: [{ exists: false }] }],
      ['https', 'https://pager.example/alerts?team=1', { role: ['senior_manager'], approver: [{ exists: false }] }],
    ]);
  });

  it('keep approvers and operators apart', () => {
    const topicOf = (index: number) => JSON.stringify(subscriptions[index]?.TopicArn);
    expect(subscriptions).toHaveLength(4);
    expect(topicOf(3)).not.toBe(topicOf(0));
    expect(subscriptions[3]).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
  });

  it('hang on topics that are encrypted and take nothing in clear', () => {
    expect(ofType(template, 'AWS::SNS::Topic').every(([, topic]) => topic.Properties.KmsMasterKeyId)).toBe(true);
    expect(ofType(template, 'AWS::SNS::TopicPolicy')).toHaveLength(2);
  });
});

describe('what happens without a caller', () => {
  const template = templateFor({ sweepMinutes: 2 });

  it('the schedule wakes the sweep', () => {
    const { Properties } = one(template, 'AWS::Events::Rule');
    expect(Properties.ScheduleExpression).toBe('rate(2 minutes)');
    expect(JSON.stringify(Properties.Targets)).toContain('"sweepfunction');
  });

  it('the audit stream wakes dispatch; one bad record is reported alone and ends in the queue', () => {
    const { Properties } = one(template, 'AWS::Lambda::EventSourceMapping');
    expect(Properties).toMatchObject({
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 5,
      StartingPosition: 'TRIM_HORIZON',
    });
    expect(JSON.stringify(Properties.EventSourceArn)).toMatch(/tablesaudit\w+","StreamArn/);
    expect(JSON.stringify(Properties.DestinationConfig)).toContain('"failed');
  });

  it('has an alarm for tampering, for what failed, and for a sweep that fails or is silent; each tells somebody', () => {
    const alarms = ofType(template, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
    expect(alarms.map(({ MetricName }) => MetricName)).toEqual([
      'UnexpectedAuditRecord',
      'SweepFailed',
      'Errors',
      'ApproximateNumberOfMessagesVisible',
      'Invocations',
    ]);
    const [operations] = ofType(template, 'AWS::SNS::Topic').filter(([id]) => id.startsWith('operations'));
    expect(alarms.every(({ AlarmActions }) => JSON.stringify(AlarmActions).includes(operations?.[0] ?? '?'))).toBe(
      true,
    );
    const policies = ofType(template, 'AWS::SNS::TopicPolicy').map(([, { Properties }]) => Properties);
    const open = policies.filter(({ PolicyDocument }) =>
      JSON.stringify(PolicyDocument).includes('cloudwatch.amazonaws'),
    );
    expect(open.map(({ Topics }) => Topics)).toEqual([[{ Ref: operations?.[0] }]]);
    expect(alarms[4]).toMatchObject({ ComparisonOperator: 'LessThanThreshold', TreatMissingData: 'breaching' });
  });
});
