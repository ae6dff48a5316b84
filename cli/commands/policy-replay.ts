import * as z from 'zod';
import { jsonObject } from '../../core/fields.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { type ActionTally, replayRuns } from '../../core/replay.ts';
import { argumentsOf, type Command, exit, UsageError } from '../command.ts';
import { dataOfFile, policyOfFile } from '../files.ts';
import { counted, inert, table } from '../output.ts';

const help = `countersign policy replay FILE RUNS [--json]

Replays recorded runs through a policy: how many calls of each action would run by themselves, how many of these would be
drawn for review, how many would ask people, how many would be stopped. The same runs always have the same table.

RUNS is JSON or YAML: { runs: [{ run: ID, actions: [{ name, args }] }] }

  --json    the table as JSON

Exit code: 0, or 2 wrongly called.`;

const recording = z.object({
  runs: z.array(z.object({ run: z.string(), actions: z.array(z.object({ name: z.string(), args: jsonObject })) })),
});

export const policyReplay: Command = {
  name: 'policy replay',
  summary: 'what would the policy have made of these runs?',
  help,
  async run(args, output) {
    const { values, positionals } = argumentsOf(args, { json: { type: 'boolean' } }, ['FILE', 'RUNS']);
    const [file = '', runsFile = ''] = positionals;
    const mission = missionPolicy(policyOfFile(file));
    const recorded = recording.safeParse(dataOfFile(runsFile));
    if (!recorded.success) throw new UsageError(`${runsFile} holds no runs: ${z.prettifyError(recorded.error)}`);
    const { runs } = recorded.data;
    const tallies = replayRuns(mission, runs);
    if (values.json) output.line(JSON.stringify(tallies, null, 2));
    else {
      const total = totalOf(tallies);
      for (const line of table([
        ['action', 'calls', 'allow', 'of these drawn', 'pause', 'stop'],
        ...[...tallies, total].map(rowOf),
      ]))
        output.line(line);
      output.line(
        `${counted(runs.length, 'run')} under mission ${inert(mission.missionId)}, version ${mission.version}`,
      );
    }
    return exit.ok;
  },
};

const rowOf = ({ action, calls, allow, drawn, pause, stop }: ActionTally): string[] => [
  inert(action),
  ...[calls, allow, drawn, pause, stop].map(String),
];

function totalOf(tallies: readonly ActionTally[]): ActionTally {
  const sum = (of: (tally: ActionTally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  return {
    action: 'all',
    calls: sum(({ calls }) => calls),
    allow: sum(({ allow }) => allow),
    drawn: sum(({ drawn }) => drawn),
    pause: sum(({ pause }) => pause),
    stop: sum(({ stop }) => stop),
  };
}
