import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createStore } from '../../adapters/dynamodb/store.ts';
import { email, Front, newRun, refund } from './harness.ts';
import { behind } from './tables.ts';

let front: Front;
beforeAll(async () => {
  front = await Front.start({ deployment: { sweepMinutes: 60 } });
});
afterAll(() => front.stop());
afterEach(async () => {
  await front.noFaults();
  await front.stream(true);
});

async function asked(body: object): Promise<string> {
  const answer = await front.ask({ runId: newRun(), ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.requestId;
}

const deliveryOf = async (requestId: string) => (await front.get(requestId)).body.delivery;
const isDelivered = (requestId: string) =>
  expect.poll(async () => (await deliveryOf(requestId)).owed, { timeout: 15_000 }).toEqual([]);
const linkTo = (requestId: string) => `${front.urls.webUrl}/r/${requestId}`;

/** What reached people about a request, once its alerts have left. */
async function heard(requestId: string) {
  await isDelivered(requestId);
  const messages = await front.messages(requestId);
  return {
    messages,
    mail: messages.find(({ channel }) => channel === 'email') ?? {},
    sms: messages.find(({ channel }) => channel === 'sms')?.text ?? '',
  };
}

/** What every telephone writes with one septet each: a part of GSM-7 that leaves no doubt. */
const plainGsm = /^[A-Za-z0-9 .,:;()/_@+\-?&=%#'"!*<>]*$/;
const sendable = /^[A-Za-z0-9][ -~]{0,98}$/;

test.each([
  ['300 characters, a line break and emoji', `refund\n🎉${'x'.repeat(290)}`.padEnd(300, '!')],
  ['a carriage return and a header of its own', 'pay\r\nBcc: evil@example.org'],
  ['only emoji', '🎉🎉🎉'],
  ['512 emoji', '🎉'.repeat(256)],
  ['a leading blank and tab', ' \tpay'],
])(
  'case 40: an action name of %s: a subject of at most 99 printable ASCII characters, and the alert is sent',
  async (_, actionName) => {
    const { mail, messages } = await heard(await asked(email({ actionName })));
    expect(mail.subject).toMatch(sendable);
    expect(messages.map(({ to }) => to).sort()).toEqual(['+491701234501', 'alice@example.org', 'frank@example.org']);
  },
);

const largestEnvelope = 256 * 1024;

test.each([
  ['one long text', { body: 'x'.repeat(250 * 1024) }],
  ['emoji', { body: '🎉'.repeat(62 * 1024) }],
  ['what JSON writes with six characters each', { body: '\u0001'.repeat(42 * 1024) }],
  ['many values', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key-${at}`, `value ${at}`]))],
])(
  'case 41: 250 KiB of arguments (%s): the mail stays in SNS’s limit, says that it is shortened, and links to the whole',
  async (_, actionArgs) => {
    const requestId = await asked(email({ actionArgs: { addressee: 'ada@customer.example', ...actionArgs } }));
    const { mail, sms } = await heard(requestId);
    const envelope = JSON.stringify({ default: mail.text, email: mail.text, sms });
    expect(Buffer.byteLength(envelope)).toBeLessThan(largestEnvelope);
    expect(mail.text).toContain('This mail is shortened');
    expect(mail.text).toMatch(/left out: [\d ]+ (characters|more values), on the page/);
    expect(mail.text).toContain(linkTo(requestId));
    expect(mail.text).toContain('ada@customer.example');
  },
);

test('case 41: a short mail is whole and does not say otherwise', async () => {
  const requestId = await asked(email());
  const { mail } = await heard(requestId);
  expect(mail.text).not.toMatch(/shortened|left out/);
  expect(mail.text).toContain('Dear Ms Okafor, …');
});

test.each([
  ['emoji', 'send_🎉_now'],
  ['Cyrillic', 'отправить_письмо'],
  ['a name of 500', 'send_'.repeat(100)],
  ['an address of its own', 'http://evil.example/approve'],
])('case 42: %s in the action: the SMS is GSM-7, at most 160, the link unbroken', async (_, actionName) => {
  const requestId = await asked(email({ actionName, actionArgs: { amount: 'сто 🎉', to: 'ada' } }));
  const { sms } = await heard(requestId);
  expect(sms).toMatch(plainGsm);
  expect(sms.length).toBeGreaterThan(0);
  expect(sms.length).toBeLessThanOrEqual(160 - 'Approvals> '.length);
  expect(sms.split(/\s/)).toContain(linkTo(requestId));
  expect(sms.match(/https?:/g)).toHaveLength(1);
});

test('an alert that has left is marked on the request, once, and each approver hears only of its roles', async () => {
  const [mailing, paying, deleting] = await Promise.all([
    asked(email()),
    asked(refund(80)),
    asked({ actionName: 'delete_account', actionArgs: { id: 'a' } }),
  ]);
  const everybody = async (requestId: string) =>
    (await heard(requestId)).messages.map(({ to, role }) => `${role} ${to}`).sort();
  expect(await everybody(mailing)).toEqual([
    'support_agent +491701234501',
    'support_agent alice@example.org',
    'support_agent frank@example.org',
  ]);
  expect(await everybody(paying)).toEqual([
    'support_manager +491701234501',
    'support_manager +491701234502',
    'support_manager alice@example.org',
    'support_manager bob@example.org',
  ]);
  expect(await everybody(deleting)).toEqual(['senior_manager carol@example.org', 'senior_manager frank@example.org']);
  expect(await deliveryOf(paying)).toEqual({
    owed: [],
    delivered: { 'asked-0-support_manager': expect.stringMatching(/^\d{4}-.*Z$/) },
  });
});

const failing = { operation: 'Publish', times: 10_000, when: 'before', error: 'InternalServerError' } as const;
const id = 'asked-0-support_agent';
const owedBy = async (requestId: string) => (await createStore(behind(front)).readState(requestId))?.owed[id];
const tried = (requestId: string, times: number) =>
  expect.poll(async () => (await owedBy(requestId))?.attempts, { timeout: 15_000 }).toBe(times);

test('a topic that fails: the delivery is seen to be owed, tried again after its back-off under the same id, and lost never', async () => {
  await front.faults([failing]);
  const requestId = await asked(email());
  await tried(requestId, 1);
  expect(await deliveryOf(requestId)).toEqual({ owed: [id], delivered: {} });

  await front.noFaults();
  await front.sweep();
  expect(await deliveryOf(requestId)).toEqual({ owed: [id], delivered: {} });
  expect(Date.parse((await owedBy(requestId))?.nextAt ?? '') - Date.now()).toBeGreaterThan(5_000);

  try {
    await front.clock(35);
    await front.sweep();
  } finally {
    await front.clock(0);
  }
  expect((await deliveryOf(requestId)).delivered).toHaveProperty(id);
  expect((await heard(requestId)).messages).toHaveLength(3);
});

test('each failure doubles the back-off', async () => {
  await front.faults([failing]);
  const requestId = await asked(email());
  await tried(requestId, 1);
  const waits: number[] = [];
  let offset = 0;
  try {
    for (let attempts = 1; attempts < 4; attempts++) {
      const wait = Date.parse((await owedBy(requestId))?.nextAt ?? '') - Date.now() - offset * 1000;
      waits.push(Math.round(wait / 30_000));
      offset += Math.ceil(wait / 1000) + 1;
      await front.clock(offset);
      await front.sweep();
      await tried(requestId, attempts + 1);
    }
  } finally {
    await front.clock(0);
  }
  expect(waits).toEqual([1, 2, 4]);
});

test('a topic that fails keeps nobody from deciding', async () => {
  await front.faults([failing]);
  const { body: request } = await front.ask(email({ runId: newRun() }));
  await tried(request.requestId, 1);
  const decided = await front.approve(request, 'alice');
  expect([decided.status, decided.body.status]).toEqual([200, 'APPROVED']);
  expect(
    (await front.claim(request.requestId, { actionName: request.actionName, actionArgs: request.actionArgs })).status,
  ).toBe(200);
});

test('with the stream switched off everything owed leaves within two sweeps', async () => {
  await front.stream(false);
  const ids = await Promise.all([email(), refund(80), email()].map(asked));
  for (const requestId of ids) expect((await deliveryOf(requestId)).owed).toHaveLength(1);
  await front.sweep();
  await front.sweep();
  for (const requestId of ids) {
    expect((await deliveryOf(requestId)).owed).toEqual([]);
    expect((await front.messages(requestId)).length).toBeGreaterThanOrEqual(3);
  }
});
