import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { localFolder } from './local-folder.ts';
import type { Service, ServiceDescription } from './service.ts';

const help = `npm start [-- options]    Countersign on this machine: the deployed stack, played.

  --no-example   only the service, without the support agent
  --data DIR     keep the data in DIR (else it is gone at the end)
  --verbose      show what the functions write (else only in .local/)
  --help         this

DYNAMODB_ENDPOINT=http://localhost:8000 uses Amazon's DynamoDB Local ("docker compose up -d") instead of the embedded engine.`;

const defaultPorts = { api: 8787, issuer: 8788, mailbox: 8789, control: 8790 } as const;
/** Where the preferred one is taken. Of the issuer only a few: each of its ports has a synthesised stack of its own. */
const otherPorts = { api: [0], issuer: [8798, 8808, 8818, 8828, 8838, 0], mailbox: [0], control: [0] } as const;

const descriptionFile = join(localFolder, 'service.json');
const exampleFile = join(import.meta.dirname, '..', 'examples', 'support-agent', 'main.ts');

interface Wishes {
  example: boolean;
  data?: string;
  verbose: boolean;
  /** What the example is told, such as `--answer yes`. */
  others: string[];
}

function readWishes(): Wishes | 'help' {
  const options = {
    'no-example': { type: 'boolean' },
    data: { type: 'string' },
    verbose: { type: 'boolean' },
    help: { type: 'boolean' },
    answer: { type: 'string' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) return 'help';
  return {
    example: !values['no-example'],
    verbose: values.verbose ?? false,
    others: values.answer === undefined ? [] : ['--answer', values.answer],
    ...(values.data === undefined ? {} : { data: values.data }),
  };
}

async function start(wishes: Wishes): Promise<void> {
  const names = Object.keys(defaultPorts) as (keyof typeof defaultPorts)[];
  const ports = Object.fromEntries(names.map((name) => [name, [defaultPorts[name], ...otherPorts[name]]]));
  const { startService } = await import('./service.ts');
  const service = await startService({
    ports,
    quiet: !wishes.verbose,
    ...(wishes.data === undefined ? {} : { dataDir: wishes.data }),
  });
  mkdirSync(localFolder, { recursive: true });
  writeFileSync(descriptionFile, `${JSON.stringify(service.description, null, 2)}\n`, { mode: 0o600 });
  endWith(service);
  tellWhere(service.description);
  if (wishes.example && existsSync(exampleFile)) runExample(wishes.others);
}

/** The main job, beside the service; it finds the service through `.local/service.json`. */
function runExample(others: readonly string[]): void {
  const example = spawn(process.execPath, [exampleFile, ...others], { stdio: 'inherit' });
  process.once('exit', () => example.kill());
}

/** Ctrl-C, a termination and an error that nobody caught: all end everything that was started. */
function endWith(service: Service): void {
  let ending = false;
  const end = async (code: number) => {
    if (ending) process.exit(code);
    ending = true;
    if (isOurs(service.description)) rmSync(descriptionFile, { force: true });
    await service.stop();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error) => {
      console.error(error);
      void end(1);
    });
}

/** Another start may have written its own since. */
const isOurs = ({ apiUrl }: ServiceDescription): boolean =>
  existsSync(descriptionFile) && JSON.parse(readFileSync(descriptionFile, 'utf8')).apiUrl === apiUrl;

function tellWhere({ apiUrl, webUrl, issuer, mailboxUrl, controlUrl }: ServiceDescription): void {
  const given = { api: apiUrl, issuer, mailbox: mailboxUrl, control: controlUrl };
  for (const [name, url] of Object.entries(given)) {
    const wanted = defaultPorts[name as keyof typeof defaultPorts];
    if (new URL(url).port !== String(wanted)) console.log(`Port ${wanted} (${name}) is in use; it is ${url} instead.`);
  }
  console.log(`
Countersign is ready after ${performance.now().toFixed(0)} ms.

  pages     ${webUrl}  (sign in by choosing who you are: alice, bob, carol, frank)
  API       ${apiUrl}/v1
  mailbox   ${mailboxUrl}
  control   ${controlUrl}
  issuer    ${issuer}
  tokens    .local/service.json

Ask for an approval:

  curl -s ${apiUrl}/v1/requests \\
    -H "Authorization: Bearer $(node -p "require('./.local/service.json').tokens['support-bot']")" \\
    -H 'Content-Type: application/json' \\
    -d '{"runId":"try-1","actionName":"send_customer_email","actionArgs":{"to":"ann@example.org","body":"Hello"}}'

Ctrl-C ends everything.
`);
}

async function main(): Promise<void> {
  try {
    const wishes = readWishes();
    if (wishes === 'help') console.log(help);
    else await start(wishes);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (process.env.DEBUG) console.error(error);
    process.exit(1);
  }
}

await main();
