#!/usr/bin/env node
import { type Command, exit, UsageError } from './command.ts';
import { exportRequests } from './commands/export-requests.ts';
import { policyBacktest } from './commands/policy-backtest.ts';
import { policyCheck } from './commands/policy-check.ts';
import { policyMutate } from './commands/policy-mutate.ts';
import { policyReplay } from './commands/policy-replay.ts';
import { policyTest } from './commands/policy-test.ts';
import { inert, output } from './output.ts';

const commands: readonly Command[] = [
  policyCheck,
  policyTest,
  policyMutate,
  policyReplay,
  policyBacktest,
  exportRequests,
];

const help = `countersign COMMAND … [--help]

${commands.map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`).join('\n')}

countersign COMMAND --help says what a command takes.`;

async function run(args: string[]): Promise<number> {
  const command = commands.find(({ name }) => args.slice(0, 2).join(' ') === name);
  const asksForHelp = args.includes('--help') || args.includes('-h');
  if (command === undefined) {
    if (asksForHelp || args.length === 0) output.line(help);
    else output.note(`There is no command ${inert(args.slice(0, 2).join(' '))}.\n\n${help}`);
    return asksForHelp ? exit.ok : exit.usage;
  }
  if (asksForHelp) {
    output.line(command.help);
    return exit.ok;
  }
  try {
    return await command.run(args.slice(2), output);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.note(`countersign ${command.name}: ${inert(error.message)}\n(countersign ${command.name} --help)`);
    return exit.usage;
  }
}

process.exitCode = await run(process.argv.slice(2));
