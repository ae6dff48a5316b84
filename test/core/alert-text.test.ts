import { describe, expect, test } from 'vitest';
import type { RequestFacts, RequestState } from '../../core/request.ts';
import { alert, alertRequest, asked, escalated, printableSubject } from './alert-request.ts';

describe('escalated, and after it is over', () => {
  const level1 = { level: 1, asked: ['senior_manager'], approvals: [{ role: 'senior_manager', count: 2 }] };
  const at = { closedAt: '2026-11-30T14:20:05.000Z' };
  const timeout = { source: 'timeout' as const, decidedBy: [] as [], decidedAt: at.closedAt };
  const bob = { source: 'human' as const, decidedBy: ['bob'] as [string], decidedAt: at.closedAt };

  test('the next role hears that it is asked now', () => {
    const message = alert(alertRequest({ facts: level1 }), escalated);
    expect(message.subject).toBe('Escalated: issue_refund by 30 Nov 14:20 UTC');
    expect(message.email).toContain('senior_manager: you are asked now (0 of 2 votes given).');
    expect(message.email).toContain('Then it ends without an approval.');
    expect(message.sms).toBe(
      'Now with you: issue_refund. Ends 14:20 UTC. https://sign.example.com/r/Qm3x8Kp0tZr5Vb2nLw7YcA',
    );
  });

  test('a role that is no longer asked is told who is', () => {
    const message = alert(alertRequest({ facts: level1 }));
    expect(message.email).toContain('this no longer waits for you. It waits for senior_manager now');
    expect(message.email).not.toContain('Read and decide');
    expect(message.sms).not.toContain('Asked');
  });

  test.each<[string, (facts: RequestFacts) => RequestState]>([
    ['timed out', (facts) => ({ ...facts, ...at, status: 'TIMED_OUT', decision: { word: 'timeout', ...timeout } })],
    [
      'proceeded',
      (facts) => ({
        ...facts,
        ...at,
        status: 'APPROVED',
        claimBy: at.closedAt,
        decision: { word: 'approve', ...timeout },
      }),
    ],
    ['expired', (facts) => ({ ...facts, ...at, status: 'REVOKED', decision: { word: 'revoke', ...timeout } })],
    ['waiting', (facts) => ({ ...facts, status: 'PENDING' })],
    ['cancelled', (facts) => ({ ...facts, ...at, status: 'CANCELLED', cancelledBy: 'support-bot' })],
  ])('case 36: where it %s nobody is said to have refused', (_what, become) => {
    for (const owed of [asked, escalated]) {
      const { subject, email, sms } = alert(alertRequest({ become }), owed);
      expect(`${subject} ${email} ${sms}`).not.toMatch(/reject|refus|declin|denied/i);
    }
  });

  test('the guard sees a rejection where there was one', () => {
    const become = (facts: RequestFacts): RequestState => ({
      ...facts,
      ...at,
      status: 'REJECTED',
      decision: { word: 'reject', ...bob },
    });
    expect(alert(alertRequest({ become })).email).toContain(
      'It was rejected by bob at 30 Nov 2026 14:20 UTC. Nothing ran.',
    );
  });
});

describe('case 40: any action name makes a subject', () => {
  test.each([
    [
      'issue_refund\r\nBcc: everybody@example.com',
      'Decide: issue_refund[CR][LF]Bcc: everybody@example.com by 30 Nov 14:20 UTC',
    ],
    ['возврат', 'Decide: [U+0432][U+043E][U+0437][U+0432]..043E][U+0437][U+0432][U+0440][U+0430][U+0442] by'],
    ['  a', 'Decide: [SPACE x2]a by 30 Nov 14:20 UTC'],
    ['a'.repeat(60) + '\n🙂'.repeat(70) + 'z'.repeat(100), 'Decide: aaaa'],
    ['', 'Decide:  by'],
  ])('%j', (actionName, start) => {
    const { subject } = alert(alertRequest({ actionName }));
    expect(subject.slice(0, 300)).toMatch(printableSubject);
    if (actionName === 'возврат') expect(subject.length).toBeLessThanOrEqual(99);
    else expect(subject.startsWith(start)).toBe(true);
    expect(subject.endsWith(' by 30 Nov 14:20 UTC')).toBe(true);
  });

  test('a name that is too long keeps both ends', () => {
    const { subject } = alert(alertRequest({ actionName: `start${'-'.repeat(290)}end` }));
    expect(subject).toHaveLength(99);
    expect(subject).toMatch(/^Decide: start-+\.\.-+end by 30 Nov 14:20 UTC$/);
  });
});
