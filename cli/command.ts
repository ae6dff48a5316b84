import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Output } from './output.ts';

/** What a command ends with: fine, something found (findings, failed cases), wrongly called. */
export const exit = { ok: 0, found: 1, usage: 2 } as const;

export interface Command {
  /** As it is typed: `policy check`. */
  name: string;
  summary: string;
  /** All that `--help` says. */
  help: string;
  run(args: string[], output: Output): Promise<number>;
}

/** Wrongly called, or called with what cannot be read. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

/** The arguments of a command; throws {@link UsageError} where they are others, or not `positionals` many. */
export function argumentsOf<const Given extends Options>(
  args: string[],
  options: Given,
  positionals: readonly string[],
) {
  const parsed = parsedOrRefused(args, options);
  if (parsed.positionals.length !== positionals.length)
    throw new UsageError(
      positionals.length === 0
        ? `takes no ${JSON.stringify(parsed.positionals[0])}`
        : `needs ${positionals.join(' and ')}; given: ${parsed.positionals.join(' ') || 'nothing'}`,
    );
  return { values: parsed.values, positionals: parsed.positionals };
}

function parsedOrRefused<const Given extends Options>(args: string[], options: Given) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
