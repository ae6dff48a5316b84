import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Service, ServiceDescription } from './service.ts';
import { type ServiceFile, writeServiceFile } from './service-file.ts';
import { help, readWishes, type Wishes } from './start-options.ts';

const defaultPorts = { api: 8787, issuer: 8788, mailbox: 8789, control: 8790 } as const;
/** Where the preferred one is taken. Of the issuer only a few: each of its ports has a synthesised stack of its own. */
const otherPorts = { api: [0], issuer: [8798, 8808, 8818, 8828, 8838, 0], mailbox: [0], control: [0] } as const;

const exampleFile = join(import.meta.dirname, '..', 'examples', 'support-agent', 'main.ts');

async function start(wishes: Wishes): Promise<void> {
  const names = Object.keys(defaultPorts) as (keyof typeof defaultPorts)[];
  const ports = Object.fromEntries(names.map((name) => [name, [defaultPorts[name], ...otherPorts[name]]]));
  const { startService } = await import('./service.ts');
  const service = await startService({
    ports,
    quiet: !wishes.verbose,
    ...(wishes.data === undefined ? {} : { dataDir: wishes.data }),
  });
  const file = await writeServiceFile(service.description);
  endWith(service, file);
  const example = wishes.example && existsSync(exampleFile);
  tellWhere(service.description, file);
  if (example) runExample(file, goesOn(wishes), wishes.others);
  else tellHowToAsk(service.description, file);
  console.log('Ctrl-C ends everything.\n');
}

/** The main job, beside the service. */
function runExample(file: ServiceFile, command: string, others: readonly string[]): void {
  const args = [exampleFile, '--service', file.path, '--go-on-by', command, ...others];
  const example = spawn(process.execPath, args, { stdio: 'inherit' });
  process.once('exit', () => example.kill());
}

/** What goes on with the example's run after both have ended; empty where the run's requests end with the service. */
function goesOn({ data }: Wishes): string {
  if (data !== undefined) return `npm start -- --data ${/^[\w./~+-]+$/.test(data) ? data : JSON.stringify(data)}`;
  return process.env.DYNAMODB_ENDPOINT ? 'npm start --' : '';
}

/** Ctrl-C, a termination and an error that nobody caught: all end everything that was started. */
function endWith(service: Service, file: ServiceFile): void {
  let ending = false;
  const end = async (code: number) => {
    if (ending) process.exit(code);
    ending = true;
    file.remove();
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

function tellWhere(description: ServiceDescription, { shown }: ServiceFile): void {
  const { apiUrl, webUrl, issuer, mailboxUrl, controlUrl } = description;
  const given = { api: apiUrl, issuer, mailbox: mailboxUrl, control: controlUrl };
  for (const [name, url] of Object.entries(given)) {
    const wanted = defaultPorts[name as keyof typeof defaultPorts];
    if (new URL(url).port !== String(wanted)) console.log(`Port ${wanted} (${name}) is in use; it is ${url} instead.`);
  }
  if (shown !== '.local/service.json')
    console.log(`.local/service.json describes another service that is running; this one is in ${shown}.`);
  console.log(`
Countersign is ready after ${performance.now().toFixed(0)} ms.

  pages     ${webUrl}  (sign in by choosing who you are: alice, bob, carol, frank)
  API       ${apiUrl}/v1
  mailbox   ${mailboxUrl}
  control   ${controlUrl}
  issuer    ${issuer}
  tokens    ${shown}
`);
}

function tellHowToAsk({ apiUrl }: ServiceDescription, { shown }: ServiceFile): void {
  console.log(`Ask for an approval:

  curl -s ${apiUrl}/v1/requests \\
    -H "Authorization: Bearer $(node -p "require('./${shown}').tokens['support-bot']")" \\
    -H 'Content-Type: application/json' \\
    -d '{"runId":"try-1","actionName":"send_customer_email","actionArgs":{"to":"ann@example.org","body":"Hello"}}'
`);
}

async function main(): Promise<void> {
  try {
    const wishes = readWishes(process.argv.slice(2), Boolean(process.env.DYNAMODB_ENDPOINT));
    if (wishes === 'help') console.log(help);
    else await start(wishes);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (process.env.DEBUG) console.error(error);
    process.exit(1);
  }
}

await main();
