import { parseArgs } from 'node:util';

export const help = `npm start [-- options]    Countersign on this machine: the deployed stack, played.

  --no-example              only the service, without the support agent
  --answer yes|no|silence   plays the people whom the agent asks (silence moves the service's clock)
  --data DIR                keep the data in DIR (else it is gone at the end)
  --run ID                  the agent goes on with a run that was interrupted; needs the --data that it began with
  --verbose                 show what the functions write (else only in .local/)
  --help                    this

DYNAMODB_ENDPOINT=http://localhost:8000 uses Amazon's DynamoDB Local ("docker compose up -d") instead of the embedded engine.`;

export interface Wishes {
  example: boolean;
  data?: string;
  verbose: boolean;
  /** What the example is told, such as `--answer yes`. */
  others: string[];
}

const options = {
  'no-example': { type: 'boolean' },
  answer: { type: 'string' },
  data: { type: 'string' },
  run: { type: 'string' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const answers = ['yes', 'no', 'silence'];

/** Throws, before anything is started, for what cannot be done, and says what is allowed. `kept`: the data lie elsewhere. */
export function readWishes(args: readonly string[], kept: boolean): Wishes | 'help' {
  const { help, answer, data, run, verbose = false, 'no-example': alone = false } = parsed(args);
  if (help) return 'help';
  if (answer !== undefined && !answers.includes(answer))
    throw new Error(`--answer is "${answer}"; it may be yes, no or silence`);
  if (data === '') throw new Error('--data is empty; it names a folder');
  if (run !== undefined && data === undefined && !kept)
    throw new Error('--run needs the --data that the run began with: without it the requests of the run are gone');
  for (const [name, value] of Object.entries({ answer, run }))
    if (alone && value !== undefined)
      throw new Error(`--no-example leaves out the agent, and --${name} is for the agent: give one of them`);
  return {
    example: !alone,
    verbose,
    others: Object.entries({ answer, run }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    ),
    ...(data === undefined ? {} : { data }),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const [said] = String(error instanceof Error ? error.message : error).split('. ');
    const allowed = Object.keys(options).map((name) => `--${name}`);
    throw new Error(`${said}; the options are ${allowed.join(', ')}`, { cause: error });
  }
}
