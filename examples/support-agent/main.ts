import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Command } from '@langchain/langgraph';
import { buildAgent, type Result } from './agent.ts';
import { type ApprovalRequest, connect, type Verification } from './countersign.ts';
import { type Answer, answerAs, namesOf, type Service, tokenOf } from './people.ts';
import { ticket } from './plan.ts';
import { lockRun } from './run-lock.ts';
import { SqliteSaver } from './sqlite-saver.ts';
import { openTerminal, type Print } from './terminal.ts';
import { openTools } from './tools.ts';

const localFolder = join(import.meta.dirname, '..', '..', '.local');

export interface ExampleOptions {
  /** Plays the people. @default - waits for them */
  answer?: Answer;
  /** Goes on with this run. @default - begins one */
  run?: string;
  /** Gives up waiting; the run can be gone on with. */
  signal?: AbortSignal;
  /** Where the agent keeps its files. @default .local/support-agent */
  folder?: string;
  print?: Print;
  /** Told the run's id as soon as there is one. */
  begun?(runId: string): void;
}

export interface ExampleResult {
  runId: string;
  results: Result[];
  verification: Verification;
}

/**
 * Works one ticket to its end against a running service, and shows the verified audit. Throws what `signal` was aborted with,
 * and where the service cannot be reached; either way the run goes on with `run`.
 */
export async function runExample(service: Service, options: ExampleOptions = {}): Promise<ExampleResult> {
  const { answer, folder = join(localFolder, 'support-agent'), print = console.log } = options;
  const over = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
  const runId = options.run ?? `${ticket.ticketId}-${randomBytes(6).toString('hex')}`;
  const tools = await openTools(folder);
  const countersign = connect(service.apiUrl, tokenOf(service, 'support-bot'), signal);
  const { unlock } = lockRun(folder, runId);
  const terminal = openTerminal(print, service.webUrl, namesOf(service));
  const saver = new SqliteSaver(join(folder, 'checkpoints.sqlite'));
  try {
    const agent = buildAgent(countersign, tools, saver, terminal);
    // `sync`: a step begins only when the checkpoint before it is on the disk, so a claimId is never used and then forgotten.
    const config = { configurable: { thread_id: runId }, durability: 'sync', recursionLimit: 100 } as const;

    options.begun?.(runId);
    terminal.say(`Run ${runId}: ticket ${ticket.ticketId}, "${ticket.text}"`);
    if (answer === 'silence')
      terminal.say(
        'Nobody answers: the local clock is moved past each deadline and back, which the times of the audit show.',
      );
    const known = (await agent.getState(config)).createdAt !== undefined;
    if (options.run !== undefined && !known) throw new Error(`there is no run ${runId} in ${folder}`);
    if (!known) await agent.invoke({ runId, ticket }, config);
    for (;;) {
      const { next, tasks, values } = await agent.getState(config);
      const question = tasks.flatMap(({ interrupts }) => interrupts)[0];
      if (question?.id) {
        const decided = await wait(question.value as ApprovalRequest);
        await agent.invoke(new Command({ resume: { [question.id]: decided } }), config);
      } else if (next.length > 0) {
        await agent.invoke(null, config);
      } else {
        return { runId, results: values.results, verification: await showAudit() };
      }
    }
  } finally {
    over.abort();
    saver.close();
    unlock();
  }

  /** Long polls until people have decided; with `answer`, those people are played meanwhile. */
  async function wait(request: ApprovalRequest): Promise<ApprovalRequest> {
    let { level } = request;
    const tellEscalation = (now: ApprovalRequest) => {
      if (now.level > level) terminal.escalated(now);
      level = now.level;
    };
    terminal.paused(request);
    const [decided] = await Promise.all([
      countersign.wait(request.requestId, tellEscalation),
      answer && answerAs(answer, service, request, signal),
    ]);
    tellEscalation(decided);
    terminal.decided(decided);
    return decided;
  }

  async function showAudit(): Promise<Verification> {
    const auditor = connect(service.apiUrl, tokenOf(service, 'dave'), signal);
    const verification = await auditor.verification(runId);
    terminal.audit(await auditor.audit(runId), verification);
    return verification;
  }
}

const help = `node examples/support-agent/main.ts [options]    A support agent that asks before it acts.

  --answer yes|no|silence   plays the people (silence moves the clock of the whole local service, and back)
  --run ID                  goes on with a run that was interrupted
  --service FILE            where the service is (.local/service.json, which npm start writes)
  --folder DIR              where the agent keeps its files (.local/support-agent)
  --go-on-by COMMAND        what Ctrl-C names as going on with the run (this, with the same options); empty where nothing does`;

async function main(): Promise<void> {
  const values = readOptions();
  if (values.help) return console.log(help);
  const { answer, run, folder } = values;
  if (answer !== undefined && !isAnswer(answer))
    throw new Error(`--answer is "${answer}"; it may be yes, no or silence`);
  const serviceFile = values.service ?? join(localFolder, 'service.json');
  const service = JSON.parse(
    await readFile(serviceFile, 'utf8').catch(() => {
      throw new Error(`${serviceFile} cannot be read: is the service running? npm start -- --no-example starts it`);
    }),
  ) as Service;
  const stop = new AbortController();
  let runId = run;
  process.once('SIGINT', () => stop.abort(new Error(`interrupted${runId ? howToGoOn(values, runId) : ''}`)));
  const { verification } = await runExample(service, {
    signal: stop.signal,
    begun: (id) => {
      runId = id;
    },
    ...(answer && { answer }),
    ...(run && { run }),
    ...(folder && { folder }),
  });
  if (!verification.intact) process.exitCode = 1;
}

const options = {
  answer: { type: 'string' },
  run: { type: 'string' },
  service: { type: 'string' },
  folder: { type: 'string' },
  'go-on-by': { type: 'string' },
  help: { type: 'boolean' },
} as const;

function readOptions() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const [said] = String(error instanceof Error ? error.message : error).split('. ');
    const allowed = Object.keys(options).map((name) => `--${name}`);
    throw new Error(`${said}; the options are ${allowed.join(', ')}`);
  }
}

/** The whole command, as typed in the project's folder. */
function howToGoOn(values: ReturnType<typeof readOptions>, runId: string): string {
  const { answer, service, folder, 'go-on-by': command } = values;
  if (command === '')
    return `; run ${runId} ends with the service, whose data nobody kept (npm start -- --data DIR keeps them)`;
  const given = command === undefined ? { service, folder, answer } : { answer };
  const more = Object.entries({ ...given, run: runId }).flatMap(([name, value]) =>
    value ? [`--${name} ${quoted(value)}`] : [],
  );
  return `; this goes on with it: ${[command ?? 'node examples/support-agent/main.ts', ...more].join(' ')}`;
}

const quoted = (word: string) => (/^[\w./~+-]+$/.test(word) ? word : JSON.stringify(word));

const isAnswer = (word: string): word is Answer => ['yes', 'no', 'silence'].includes(word);

if (import.meta.main)
  main().catch((error: Error) => {
    console.error(error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message);
    process.exitCode = 1;
  });
