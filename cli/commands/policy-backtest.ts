import {
  backtest,
  changes,
  effects,
  fates,
  type PastRequest,
  pastRequest,
  type Replayed,
} from '../../core/backtest.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { argumentsOf, type Command, exit, UsageError } from '../command.ts';
import { policyOfFile, textOfFile } from '../files.ts';
import { counted, inert, shortly, table } from '../output.ts';

const help = `countersign policy backtest FILE --from EXPORT [--list] [--json]

Replays past requests through a policy, against what was decided on each: how many questions would vanish, how many refusals
would have been let through, what would be asked or stopped anew. EXPORT comes from countersign export requests.

  --from EXPORT   JSON Lines, one request a line
  --list          every request that would go otherwise, one by one
  --json          all of it as JSON

Precedents and windows of that time are not known, an approval_novel counts as novel, and a condition on a value that was
hidden by policy sees its mask.

Exit code: 0, 1 where a refusal would have been let through, 2 wrongly called.`;

export const policyBacktest: Command = {
  name: 'policy backtest',
  summary: 'what would the policy have made of past requests?',
  help,
  async run(args, output) {
    const options = { from: { type: 'string' }, list: { type: 'boolean' }, json: { type: 'boolean' } } as const;
    const { values, positionals } = argumentsOf(args, options, ['FILE']);
    if (values.from === undefined) throw new UsageError('needs --from EXPORT');
    const result = backtest(missionPolicy(policyOfFile(positionals[0] ?? '')), requestsOf(values.from));
    const changed = result.replayed.filter(({ change }) => change !== undefined);
    if (values.json) output.line(JSON.stringify({ ...result, replayed: changed }, null, 2));
    else {
      const rows = fates.map((fate) => [fate, ...effects.map((now) => String(result.matrix[fate][now]))]);
      for (const line of table([['then', ...effects.map((now) => `now ${now}`)], ...rows])) output.line(line);
      output.line();
      for (const line of table(changes.map((change) => [change, String(result.changes[change])]))) output.line(line);
      if (values.list && changed.length > 0) {
        output.line();
        for (const line of table([['request', 'change', 'then', 'now', 'rules', 'action'], ...changed.map(rowOf)]))
          output.line(line);
      }
      output.line();
      output.line(`${counted(result.replayed.length, 'request')}, ${changed.length} would go otherwise`);
      if (result.otherMissions > 0) output.line(`${result.otherMissions} of other missions were left out`);
      if (result.masked > 0) output.line(`${result.masked} with hidden values: a condition on these saw their mask`);
    }
    return result.changes['refusal let through'] === 0 ? exit.ok : exit.found;
  },
};

const rowOf = ({ request, change, fate, now, matched }: Replayed): string[] => [
  inert(request.requestId),
  change ?? '',
  fate,
  now,
  inert(matched.join(', ')),
  inert(`${request.actionName} ${shortly(request.actionArgs)}`),
];

function requestsOf(file: string): PastRequest[] {
  return textOfFile(file)
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const read = pastRequest.safeParse(parsed(line));
      if (!read.success) throw new UsageError(`line ${index + 1} of ${file} is no exported request`);
      return [read.data];
    });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
