import { type Action, actionContent } from '../../core/action.ts';
import { alertFor } from '../../core/alert-text.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AlertMessage, StoredRequest } from '../../core/ports.ts';
import type { Owed, RequestFacts, RequestState } from '../../core/request.ts';
import { textContent } from '../../core/texts.ts';

interface Given {
  actionName?: string;
  actionArgs?: JsonObject;
  action?: Partial<Action>;
  facts?: Partial<RequestFacts>;
  secretPaths?: string[];
  contextSummary?: string;
  become?: (facts: RequestFacts) => RequestState;
}

/** A request as the store holds it, pending unless `become` says otherwise. */
export function alertRequest(given: Given = {}): StoredRequest {
  const { actionName = 'issue_refund', actionArgs = {}, contextSummary = 'agent words' } = given;
  const content = actionContent({ actionName, actionArgs, phase: 'before', ...given.action });
  const texts = textContent('request-texts', 'salt', { contextSummary });
  const facts: RequestFacts = {
    requestId: 'Qm3x8Kp0tZr5Vb2nLw7YcA',
    runId: 'run-1',
    missionId: 'default',
    phase: 'before',
    actionName,
    requestedBy: 'support-bot',
    requestedAt: '2026-11-30T12:20:00.000Z',
    argsDigest: content.digest,
    effectiveDigest: content.digest,
    textsDigest: texts.digest,
    bodyDigest: 'sha256:0',
    attempt: 1,
    missionRoles: ['support_agent', 'support_manager', 'senior_manager'],
    policy: {
      name: 'dual_approval',
      version: '2657a8de540f',
      reason: 'Money leaves and does not come back',
      matched: [],
      timeoutSeconds: 7200,
      onTimeout: 'escalate',
      escalateTo: ['senior_manager'],
      validForSeconds: 3600,
      secretPaths: given.secretPaths ?? [],
      approverRole: 'support_manager',
      approvals: [{ role: 'support_manager', count: 2 }],
    },
    approvals: [{ role: 'support_manager', count: 2 }],
    asked: ['support_manager'],
    level: 0,
    deadline: '2026-11-30T14:20:00.000Z',
    votes: [],
    editors: [],
    lateAttempts: {},
    owed: {},
    delivered: {},
    version: 1,
    lastEntry: { sequence: 1, hash: 'x' },
    ...given.facts,
  };
  const state = given.become?.(facts) ?? { ...facts, status: 'PENDING' as const };
  return {
    state,
    contents: new Map([content, texts].map(({ digest, canonical }) => [digest, canonical])),
  };
}

/** Hosts of 24 and of 59 characters: one's own, and the longest that API Gateway gives. */
export const ownHost = 'https://sign.example.com';
export const apiHost = 'https://abcdefghij.execute-api.ap-southeast-2.amazonaws.com';

export const asked: Owed = {
  kind: 'asked',
  role: 'support_manager',
  level: 0,
  attempts: 0,
  nextAt: '2026-11-30T12:20:00.000Z',
};
export const escalated: Owed = { ...asked, kind: 'escalated', role: 'senior_manager', level: 1 };

export const alert = (request: StoredRequest, owed = asked, webUrl = ownHost): AlertMessage =>
  alertFor({ request, deliveryId: `${owed.kind}-${owed.level}-${owed.role}`, owed, webUrl });

/** The bytes of what SNS is given: all texts of the message in one JSON. */
export const envelopeBytes = ({ email, sms }: AlertMessage): number =>
  Buffer.byteLength(JSON.stringify({ default: email, email, sms }), 'utf8');

export const printableSubject = /^[A-Za-z0-9][ -~]{0,98}$/;
export const cannotBeSeen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|(?! )\p{Zs}/u;
