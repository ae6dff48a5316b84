import type { ApprovalRequest, AuditEntry, Verification } from './countersign.ts';

/** One line on the terminal. */
export type Print = (line: string) => void;

export interface Terminal {
  asked(index: number, request: ApprovalRequest): void;
  paused(request: ApprovalRequest): void;
  /** Nobody answered in time, and the next role is asked. */
  escalated(request: ApprovalRequest): void;
  decided(request: ApprovalRequest): void;
  finished(result: { acted: boolean; why: string }): void;
  audit(entries: AuditEntry[], verification: Verification): void;
  say(line: string): void;
}

/** What the agent says while it works. `namesOf` tells who holds a role, where that is known. */
export function openTerminal(print: Print, webUrl: string, namesOf: (role: string) => string[]): Terminal {
  const say = (line: string) => print(visible(line));
  const sayWho = ({ approvals, deadline }: ApprovalRequest) => {
    const needed = approvals.map(({ role, count }) => {
      const names = namesOf(role);
      return `${count} × ${role}${names.length > 0 ? ` (${names.join(', ')})` : ''}`;
    });
    say(`   may decide:  ${needed.join(' and ')}, until ${deadline}`);
  };
  return {
    say,
    asked(index, { actionName, actionArgs, verdict, policy }) {
      say('');
      say(`${index + 1}. ${actionName} ${withoutCards(JSON.stringify(actionArgs))}`);
      say(`   ${verdict}: ${policy.name}${policy.reason ? `, "${policy.reason}"` : ''}`);
    },
    paused(request) {
      sayWho(request);
      say(`   decide here: ${webUrl}/r/${request.requestId}`);
    },
    escalated(request) {
      say('   nobody answered in time; the next are asked');
      sayWho(request);
    },
    decided({ status, decision, actionArgs, effectiveArgs }) {
      if (status !== 'APPROVED') return;
      const edited = JSON.stringify(actionArgs) !== JSON.stringify(effectiveArgs);
      say(`   approved by ${decision?.decidedBy.join(' and ') || decision?.source}`);
      if (edited) say(`   as edited:   ${withoutCards(JSON.stringify(effectiveArgs))}`);
    },
    finished({ acted, why }) {
      say(acted ? `   ${why}` : `   not done: ${why}`);
    },
    audit(entries, { intact, entries: count, brokenAt, reason }) {
      say('');
      say('Audit of this run');
      for (const { sequence, at, type, actor, hash } of entries)
        say(`  ${String(sequence).padStart(3)}  ${at}  ${type.padEnd(18)} ${actor.id.padEnd(12)} ${hash.slice(0, 12)}`);
      say(intact ? `chain intact, ${count} entries` : `CHAIN BROKEN at entry ${brokenAt}: ${reason}`);
    },
  };
}

/** A terminal is a log too: of a card's number it shows the last four digits. */
const withoutCards = (text: string): string => text.replace(/\d[\d -]{7,}(?=\d{4})/g, '…');

/** Other people's words, with everything a terminal would obey or hide made visible: `\u{1b}` for an escape. */
const visible = (text: string): string =>
  text
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
      (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`,
    )
    .replace(/(?<=\S) {40,}/g, (spaces) => ` [${spaces.length} spaces] `);
