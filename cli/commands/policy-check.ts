import * as z from 'zod';
import { CountersignError } from '../../core/errors.ts';
import type { Finding, RoleHolders } from '../../core/lint-scopes.ts';
import { lintPolicy } from '../../core/policy-lint.ts';
import type { PolicyDocument } from '../../core/policy-schema.ts';
import { parsePolicyDocument } from '../../core/policy-yaml.ts';
import { argumentsOf, type Command, exit, UsageError } from '../command.ts';
import { dataOfFile, textOfFile } from '../files.ts';
import { counted, inert, type Output } from '../output.ts';

const help = `countersign policy check FILE [--roles ROLES] [--json]

Checks a policy as it is checked when it is published (its form, and every condition), and names what is valid and still
hardly meant: onTimeout: proceed on what cannot be taken back, a quorum that nobody can meet, a timeout too short for e-mail,
a rule that can never match, a rule that another one always decides.

  --roles ROLES   who holds which role, so that quorums can be counted: a YAML or JSON file { role: [person, …] }, or
                  role=person,person (may be given several times)
  --json          the findings as JSON

Exit code: 0 nothing found, 1 findings or an invalid policy, 2 wrongly called.`;

const rolesFile = z.record(z.string(), z.array(z.string()));

export const policyCheck: Command = {
  name: 'policy check',
  summary: 'is the policy valid, and does it say what was meant?',
  help,
  async run(args, output) {
    const options = { roles: { type: 'string', multiple: true }, json: { type: 'boolean' } } as const;
    const { values, positionals } = argumentsOf(args, options, ['FILE']);
    const [file = ''] = positionals;
    const text = textOfFile(file);
    const holders = values.roles && holdersFrom(values.roles);
    const checked = checkedPolicy(text);
    const problems = 'problems' in checked ? checked.problems : [];
    const findings = 'document' in checked ? lintPolicy(checked.document, holders) : [];
    const valid = 'document' in checked;
    if (values.json) output.line(JSON.stringify({ file, valid, problems, findings }, null, 2));
    else report(output, file, problems, findings);
    return valid && findings.length === 0 ? exit.ok : exit.found;
  },
};

function checkedPolicy(text: string): { document: PolicyDocument } | { problems: string[] } {
  try {
    return { document: parsePolicyDocument(text) };
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    const { problems } = error.members;
    return { problems: Array.isArray(problems) ? problems.map(String) : [error.message] };
  }
}

function holdersFrom(given: readonly string[]): RoleHolders {
  const holders = new Map<string, string[]>();
  const add = (role: string, people: readonly string[]) => holders.set(role, [...(holders.get(role) ?? []), ...people]);
  for (const roles of given) {
    const [role, people] = roles.split('=', 2);
    if (role !== undefined && people !== undefined)
      add(
        role,
        people.split(',').filter((person) => person !== ''),
      );
    else {
      const read = rolesFile.safeParse(dataOfFile(roles));
      if (!read.success) throw new UsageError(`${roles} holds no roles; { role: [person, …] } is needed`);
      for (const [name, list] of Object.entries(read.data)) add(name, list);
    }
  }
  return holders;
}

function report(output: Output, file: string, problems: readonly string[], findings: readonly Finding[]): void {
  for (const problem of problems) output.line(`${file}: invalid: ${inert(problem)}`);
  for (const { kind, ruleId, place, why, todo } of findings) {
    output.line(`${file}: ${kind}: ${inert(place)}${ruleId === undefined ? '' : ` (rule ${inert(ruleId)})`}`);
    output.line(`  why: ${inert(why)}`);
    output.line(`  do:  ${inert(todo)}`);
  }
  const found = problems.length + findings.length;
  output.line(
    found === 0 ? `${file}: nothing found` : `${file}: ${counted(found, problems.length > 0 ? 'problem' : 'finding')}`,
  );
}
