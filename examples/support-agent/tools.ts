import { randomUUID } from 'node:crypto';
import { appendFile, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from './countersign.ts';

/** What a tool did: `output` is for the agent's own use, `report` goes into the audit (no customer data in it). */
export interface Done {
  output: Json;
  report: Json;
}

/** `claimId` names this one execution: a tool that finds it in its files has acted already, and does not act again. */
type Tool = (args: JsonObject, claimId: string) => Promise<Done>;

export type Tools = Readonly<Record<string, Tool>>;

const customers = {
  'C-77': {
    customerId: 'C-77',
    name: 'Ada Moreau',
    email: 'ada.moreau@customer.example',
    card: { number: '4242 4242 4242 4242', expires: '11/29' },
    orders: [{ orderId: 'O-5513', amount: 49.9, currency: 'EUR', charged: 2 }],
  },
} satisfies JsonObject;

/** The agent's tools. They act on files in `folder`, as real ones would on a database, a mail server and a bank. */
export async function openTools(folder: string): Promise<Tools> {
  const outbox = join(folder, 'outbox');
  const refunds = join(folder, 'refunds.jsonl');
  const customersFile = join(folder, 'customers.json');
  await mkdir(outbox, { recursive: true });
  await writeOnce(customersFile, `${JSON.stringify(customers, null, 2)}\n`);

  return {
    async read_customer_record({ customerId }) {
      const all = JSON.parse(await readFile(customersFile, 'utf8')) as JsonObject;
      const record = Object.hasOwn(all, String(customerId)) ? all[String(customerId)] : undefined;
      if (record === undefined) throw new Error(`there is no customer ${customerId}`);
      return { output: record, report: { customerId: customerId ?? null } };
    },

    async draft_response({ name, orderId, amount, currency }) {
      const draft = [
        `Dear ${name},`,
        '',
        `You were charged twice for order ${orderId}. We are sorry. I have asked for ${Number(amount).toFixed(2)} ${currency} to be returned`,
        'to your card, and we will tell you when that is done.',
        '',
        'Your support team',
      ].join('\n');
      return { output: draft, report: { characters: draft.length } };
    },

    async send_customer_email({ to, subject, body }, claimId) {
      const file = join(outbox, `${claimId}.txt`);
      const sent = await writeOnce(file, `To: ${to}\nSubject: ${subject}\nMessage-ID: <${claimId}>\n\n${body}\n`);
      return { output: file, report: { messageId: claimId, sent: sent ? 'now' : 'before' } };
    },

    async issue_refund({ customerId, orderId, amount, currency, card }, claimId) {
      const cardEnding = String((card as JsonObject).number).slice(-4);
      const made = { claimId, customerId, orderId, amount, currency, cardEnding };
      const before = (await linesOf(refunds)).some((line) => line.claimId === claimId);
      if (!before) await appendFile(refunds, `${JSON.stringify(made)}\n`, { flush: true });
      return { output: refunds, report: { refundId: claimId, made: before ? 'before' : 'now' } };
    },
  };
}

/** Whole or not at all, and only if it is not there: `false` where it was. */
async function writeOnce(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { flush: true });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft);
  }
}

async function linesOf(file: string): Promise<{ claimId?: string }[]> {
  try {
    const text = await readFile(file, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
