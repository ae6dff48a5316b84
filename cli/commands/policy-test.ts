import { type CaseResult, type PolicyCase, quorum, runCase } from '../../core/policy-case.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { argumentsOf, type Command, exit } from '../command.ts';
import { casesOfFile, policyOfFile } from '../files.ts';
import { counted, inert, shortly, table } from '../output.ts';

const help = `countersign policy test FILE CASES [--json]

Runs a table of cases through a policy. CASES is YAML or JSON:

  - { action: issue_refund, args: { amount: 500.01 }, expect: pause, rules: [large], approvals: [{ role: boss, count: 1 }] }

  action, expect (allow, pause, stop)   needed
  args, onBehalfOf, agent, confidence, phase, result, attempt, now,
  windows ({ id: { sum, count } })      the step
  rules, approvals                      where given, exactly these; a rule that could not be evaluated is among them
  name                                  what the case is about

  --json    the results as JSON

Exit code: 0 all cases hold, 1 some do not, 2 wrongly called.`;

export const policyTest: Command = {
  name: 'policy test',
  summary: 'does the policy say what a table of cases expects?',
  help,
  async run(args, output) {
    const { values, positionals } = argumentsOf(args, { json: { type: 'boolean' } }, ['FILE', 'CASES']);
    const [file = '', casesFile = ''] = positionals;
    const mission = missionPolicy(policyOfFile(file));
    const results = casesOfFile(casesFile).map((given) => ({ given, ...runCase(mission, given) }));
    const failed = results.filter(({ differences }) => differences.length > 0);
    if (values.json) output.line(JSON.stringify(results, null, 2));
    else {
      for (const line of table([['', 'case', 'verdict', 'rules', 'asks', 'but'], ...results.map(rowOf)]))
        output.line(line);
      output.line(`${counted(results.length, 'case')}, ${failed.length} failed`);
    }
    return failed.length === 0 ? exit.ok : exit.found;
  },
};

const rowOf = ({ given, effect, rules, approvals, differences }: CaseResult & { given: PolicyCase }): string[] => [
  differences.length === 0 ? 'ok' : 'FAIL',
  inert(given.name ?? `${given.action} ${shortly(given.args)}`),
  effect,
  inert(rules.join(', ')),
  effect === 'pause' ? inert(quorum(approvals)) : '',
  inert(differences.join('; ')),
];
