import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Move } from '../../core/move.ts';
import type { Connection } from './connection.ts';
import { moveCounter } from './moves/counter.ts';
import { putEscalation } from './moves/escalation.ts';
import { movePolicyHead, putFurtherEntry, putPolicyVersion } from './moves/policy.ts';
import { precedentReliedOn, revokePrecedent, setPrecedent } from './moves/precedent.ts';
import { fillSample, putSample } from './moves/sample.ts';

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The one write of a move, with its condition; each kind has its file in `moves/`. */
export function moveWrite(connection: Connection, move: Move): Write {
  switch (move.kind) {
    case 'counter':
      return moveCounter(connection, move);
    case 'escalation':
      return putEscalation(connection, move);
    case 'policy-version':
      return putPolicyVersion(connection, move);
    case 'policy-head':
      return movePolicyHead(connection, move);
    case 'entry':
      return putFurtherEntry(connection, move);
    case 'precedent':
      return setPrecedent(connection, move);
    case 'precedent-relied-on':
      return precedentReliedOn(connection, move);
    case 'precedent-revocation':
      return revokePrecedent(connection, move);
    case 'sample':
      return putSample(connection, move);
    case 'sample-fill':
      return fillSample(connection, move);
  }
}
