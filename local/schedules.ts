import { randomUUID } from 'node:crypto';
import { functionOf } from './api-routes.ts';
import type { Invocation } from './functions.ts';
import type { PlayedTemplate } from './template.ts';
import { textOf } from './template-properties.ts';

const units = { minute: 60, hour: 3600, day: 86_400 } as const;

/**
 * Every AWS::Events::Rule with a rate: invokes its functions again and again, in real time. A failed invocation is left to
 * the next one. Throws for what is not played (`cron(…)`, event patterns, targets that are no functions).
 */
export function playSchedules(
  template: PlayedTemplate,
  invoke: (functionId: string, event: unknown) => Promise<Invocation>,
): { close(): void } {
  const timers = template.ofType('AWS::Events::Rule').map(({ logicalId, properties }) => {
    const seconds = secondsOf(textOf(properties, 'ScheduleExpression', logicalId), logicalId);
    const targets = (properties.Targets ?? []) as Record<string, unknown>[];
    const functionIds = targets.map((target) => functionOf(textOf(target, 'Arn', logicalId)));
    const arn = `arn:aws:events:${template.region}:${template.accountId}:rule/${logicalId}`;
    return setInterval(() => {
      for (const functionId of functionIds) void invoke(functionId, scheduledEvent(template, arn));
    }, seconds * 1000);
  });
  return {
    close: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

function secondsOf(expression: string, logicalId: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (count === undefined) throw new Error(`${logicalId}: ${expression} is not played; rate(…) is`);
  return Number(count) * units[unit as keyof typeof units];
}

/** As EventBridge sends it. */
function scheduledEvent(template: Pick<PlayedTemplate, 'accountId' | 'region'>, ruleArn: string) {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: template.accountId,
    time: new Date().toISOString().replace(/\.\d+/, ''),
    region: template.region,
    resources: [ruleArn],
    detail: {},
  };
}
