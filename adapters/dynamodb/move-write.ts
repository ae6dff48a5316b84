import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Move } from '../../core/move.ts';
import type { Connection } from './connection.ts';
import { precedentReliedOn, revokePrecedent, setPrecedent } from './moves/precedent.ts';
import { fillSample, putSample } from './moves/sample.ts';

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The one write of a move, with its condition; each kind has its file in `moves/`. */
export function moveWrite(connection: Connection, move: Move): Write {
  switch (move.kind) {
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
