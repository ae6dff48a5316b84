import { evaluate, type Grant, grantsOf } from './permissions.ts';
import type { RecordedCall } from './recorded-calls.ts';
import { functionName, type PlayedTemplate } from './template.ts';

export interface GrantOfFunction extends Grant {
  functionName: string;
}

export interface PermissionReport {
  /** With a recorded call that is refused when this grant alone is taken away. */
  needed: (GrantOfFunction & { by: RecordedCall })[];
  /** No code calls it: AWS itself does, for this reason. */
  ofAws: (GrantOfFunction & { reason: string })[];
  /** Nothing that was recorded needs it. */
  unused: GrantOfFunction[];
  /** Recorded as allowed and not allowed by this template: the recording is of another one. */
  strange: RecordedCall[];
}

/** What functions call themselves, so that no reason excuses a grant for it. */
const calledByFunctions = /^(dynamodb:(\*|.*(Item|Items|Query|Scan))|sns:.*)$/i;

/**
 * Replays recorded calls against each function's grants (each action on each resource of each allowing statement) less
 * one in turn. Throws for a call of a function that the template does not have.
 * @param awsUses reasons, by the `Sid` of the statements that are there for AWS itself
 */
export function reportPermissions(
  template: PlayedTemplate,
  calls: readonly RecordedCall[],
  awsUses: Readonly<Record<string, string>>,
): PermissionReport {
  const report: PermissionReport = { needed: [], ofAws: [], unused: [], strange: [] };
  for (const { functionId } of calls) template.get(functionId);
  for (const resource of template.ofType('AWS::Lambda::Function')) {
    const grants = grantsOf(template, resource.logicalId);
    const own = calls.filter(({ functionId, allowed }) => allowed && functionId === resource.logicalId);
    report.strange.push(...own.filter((call) => !evaluate(grants, call).allowed));
    for (const grant of grants.filter(({ effect }) => effect === 'Allow')) {
      const named = { ...grant, functionName: functionName(resource) };
      const by = callNeeding(grant, grants, own);
      const reason = calledByFunctions.test(grant.action) ? undefined : awsUses[grant.sid ?? ''];
      if (by) report.needed.push({ ...named, by });
      else if (reason) report.ofAws.push({ ...named, reason });
      else report.unused.push(named);
    }
  }
  return report;
}

/** A call that is allowed, and refused once `grant` is taken away. */
function callNeeding(grant: Grant, grants: readonly Grant[], calls: readonly RecordedCall[]): RecordedCall | undefined {
  const less = grants.filter((other) => other !== grant);
  return calls.find((call) => evaluate(grants, call).allowed && !evaluate(less, call).allowed);
}

/** The lists as text: what is needed and by which call, what AWS uses and why, what nothing needs. */
export function printReport({ needed, ofAws, unused, strange }: PermissionReport): string {
  const line = (grant: GrantOfFunction) =>
    `${grant.functionName}: ${grant.action} on ${grant.resource} [${grant.from}]`;
  const within = ({ context }: RecordedCall) => context['dynamodb:EnclosingOperation']?.join(', ') ?? 'a plain call';
  return [
    ...section('Needed: refused when it is taken away', needed, (grant) => `${line(grant)}, by ${within(grant.by)}`),
    ...section('Used by AWS itself', ofAws, (grant) => `${line(grant)}: ${grant.reason}`),
    ...section('Unused: no recorded call needs it', unused, line),
    ...section('Recorded, and not allowed by this template', strange, (call) => JSON.stringify(call)),
  ].join('\n');
}

const section = <Item>(title: string, items: readonly Item[], show: (item: Item) => string) => [
  `${title} (${items.length})`,
  ...items.map((item) => `  ${show(item)}`),
  '',
];
