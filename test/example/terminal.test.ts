import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../examples/support-agent/countersign.ts';
import { openTerminal } from '../../examples/support-agent/terminal.ts';

function terminal() {
  const lines: string[] = [];
  const { asked, finished, audit } = openTerminal(
    (line) => lines.push(line),
    'http://localhost',
    () => [],
  );
  return { lines, asked, finished, audit };
}

describe('what the agent prints', () => {
  it.each([
    ['\u001b[2J', '\\u{1b}[2J'],
    ['a\u202Eb', 'a\\u{202e}b'],
    ['a\u200Bb', 'a\\u{200b}b'],
    ['a\u{E0100}b', 'a\\u{e0100}b'],
    ['a\r\nb', 'a\\u{d}\\u{a}b'],
    [`a${' '.repeat(5_000)}b`, 'a [5000 spaces] b'],
  ])("CASE 43: somebody's note %j is inert and visible", (note, shown) => {
    const { lines, finished } = terminal();
    finished({ acted: false, why: `alice said no: "${note}"` });
    expect(lines).toEqual([`   not done: alice said no: "${shown}"`]);
  });

  it('shows the last digits of a card, and amounts whole', () => {
    const { lines, asked } = terminal();
    const actionArgs = { amount: 1234567.89, card: { number: '4242 4242 4242 4242' } };
    asked(3, {
      actionName: 'issue_refund',
      actionArgs,
      verdict: 'pause',
      policy: { name: 'dual_approval', reason: '' },
    } as unknown as ApprovalRequest);
    expect(lines[1]).toBe('4. issue_refund {"amount":1234567.89,"card":{"number":"…4242"}}');
  });

  it('says where a chain is broken', () => {
    const { lines, audit } = terminal();
    audit([], { intact: false, entries: 3, brokenAt: 2, reason: 'entry 2 was changed' });
    expect(lines.at(-1)).toBe('CHAIN BROKEN at entry 2: entry 2 was changed');
  });
});
