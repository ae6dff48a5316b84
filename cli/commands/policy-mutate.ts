import { runCase } from '../../core/policy-case.ts';
import { missionPolicy } from '../../core/policy-document.ts';
import { survivorsOf } from '../../core/policy-mutation.ts';
import { argumentsOf, type Command, exit } from '../command.ts';
import { casesOfFile, policyOfFile } from '../files.ts';
import { counted, inert } from '../output.ts';

const help = `countersign policy mutate FILE CASES [--json]

Says what a table of cases (countersign policy test) would not notice. Makes a small mistake in each rule, one at a time: an
operator flipped, a negation left out, a bound moved by one or by its last written decimal, an effect swapped. Names each
mistake with which all cases still hold, and prints the smallest request found that would notice it, as a case to add.

  --json    the mutants that survive as JSON

Exit code: 0 all that can be noticed are noticed, 1 some are not or cases fail without any mistake, 2 wrongly called.`;

export const policyMutate: Command = {
  name: 'policy mutate',
  summary: 'which mistakes in the policy would the cases not notice?',
  help,
  async run(args, output) {
    const { values, positionals } = argumentsOf(args, { json: { type: 'boolean' } }, ['FILE', 'CASES']);
    const [file = '', casesFile = ''] = positionals;
    const document = policyOfFile(file);
    const cases = casesOfFile(casesFile);
    const mission = missionPolicy(document);
    const failed = cases.filter((given) => runCase(mission, given).differences.length > 0);
    if (failed.length > 0) {
      output.note(
        `${failed.length} of ${cases.length} cases fail for the policy as it is: see countersign policy test`,
      );
      return exit.found;
    }
    const { mutants, survivors } = survivorsOf(document, cases);
    const noticeable = survivors.filter(({ witness }) => witness !== undefined).length;
    if (values.json) {
      const shown = survivors.map(({ mutant: { mission: _mission, ...mutant }, witness }) => ({ ...mutant, witness }));
      output.line(JSON.stringify({ mutants, survivors: shown }, null, 2));
      return noticeable === 0 ? exit.ok : exit.found;
    }
    for (const { mutant, witness } of survivors) {
      output.line(
        `${inert(mutant.place)} (rule ${inert(mutant.ruleId)}): no case notices ${inert(`${mutant.was} → ${mutant.is}`)}`,
      );
      output.line(witness ? `  add: - ${inert(JSON.stringify(witness))}` : '  found no request that would notice it');
    }
    output.line(
      `${counted(mutants, 'mutant')}, ${mutants - survivors.length} noticed, ${noticeable} to notice, ${survivors.length - noticeable} that nothing found tells apart`,
    );
    return noticeable === 0 ? exit.ok : exit.found;
  },
};
