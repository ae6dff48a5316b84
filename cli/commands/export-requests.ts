import { type Countersign, connect } from '../../client/countersign.ts';
import { CountersignProblem } from '../../client/problem.ts';
import type { Status } from '../../client/wire.ts';
import { argumentsOf, type Command, exit, UsageError } from '../command.ts';
import { ExportFile } from '../export-file.ts';
import { counted, inert, type Output } from '../output.ts';

const help = `countersign export requests --api URL --token TOKEN --out FILE [--since INSTANT] [--resume]

Writes every request that is no longer waiting, with its arguments and what was decided, as JSON Lines: one request a line, as
GET /v1/requests/{id} answers it. Values that the policy hides stay hidden.

  --api URL         where the service is
  --token TOKEN     of somebody with the scope audit (sees all) or decide (sees the missions of their roles);
                    or COUNTERSIGN_TOKEN, which other users of this machine cannot see
  --out FILE        begun anew, unless --resume
  --since INSTANT   only what was asked at or after it, such as 2026-11-30T00:00:00Z
  --resume          go on after the last complete line of FILE

Exit code: 0, 1 where the service refused or could not be reached (go on with --resume), 2 wrongly called.`;

const closed: readonly Status[] = ['APPROVED', 'REJECTED', 'RESPONDED', 'TIMED_OUT', 'CANCELLED', 'REVOKED'];
const atOnce = 8;

export const exportRequests: Command = {
  name: 'export requests',
  summary: 'past requests and what was decided, as JSON Lines',
  help,
  async run(args, output) {
    const text = { type: 'string' } as const;
    const options = { api: text, token: text, out: text, since: text, resume: { type: 'boolean' } } as const;
    const { values } = argumentsOf(args, options, []);
    const { api, out, token = process.env.COUNTERSIGN_TOKEN } = values;
    if (api === undefined || token === undefined || out === undefined)
      throw new UsageError('needs --api URL, --token TOKEN (or COUNTERSIGN_TOKEN) and --out FILE');
    const since = values.since === undefined ? undefined : instantOf(values.since);
    const client = connect({ apiUrl: api, token });
    const file = values.resume ? ExportFile.resume(out) : ExportFile.begin(out);
    const before = file.ids.size;
    try {
      await fill(file, client, since);
    } catch (error) {
      if (!(error instanceof CountersignProblem)) throw error;
      output.note(`${inert(error.message)}\n${file.ids.size} requests are in ${out}; go on with --resume`);
      return exit.found;
    }
    report(output, file.ids.size - before, before, out);
    return exit.ok;
  },
};

function report(output: Output, written: number, before: number, out: string): void {
  output.note(
    `${counted(written, 'request')} written to ${out}${before > 0 ? `, beside ${before} that were there` : ''}`,
  );
}

function instantOf(text: string): string {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw new UsageError(`--since is ${JSON.stringify(text)}; an instant such as 2026-11-30T00:00:00Z is needed`);
  return new Date(milliseconds).toISOString();
}

async function fill(file: ExportFile, client: Countersign, since: string | undefined): Promise<void> {
  const wanted: string[] = [];
  for await (const { requestId, requestedAt } of listed(client, since))
    if (!file.ids.has(requestId) && (since === undefined || requestedAt >= since)) wanted.push(requestId);
  const bar = progress(wanted.length);
  for (let from = 0; from < wanted.length; from += atOnce) {
    const ids = wanted.slice(from, from + atOnce);
    file.append(await Promise.all(ids.map((id) => client.requests.get(id))));
    bar.at(from + ids.length);
  }
  bar.end();
}

/** Newest first by when they were closed; what was closed before `since` was asked before it too. */
async function* listed(client: Countersign, since: string | undefined) {
  let cursor: string | undefined;
  do {
    const page = await client.requests.list({ status: closed, limit: 100, ...(cursor !== undefined && { cursor }) });
    for (const item of page.items) {
      if (since !== undefined && item.closedAt !== undefined && item.closedAt < since) return;
      yield item;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

const barWidth = 40;

/** On the terminal of whoever waits; nothing where stderr goes elsewhere. */
function progress(total: number) {
  const { stderr } = process;
  const at = (done: number) => {
    if (!stderr.isTTY || total === 0) return;
    const filled = Math.round((done / total) * barWidth);
    stderr.write(`\r[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${done} of ${total}`);
  };
  return { at, end: () => void (stderr.isTTY && total > 0 && stderr.write('\n')) };
}
