import type { Escalation } from '../../../core/escalation.ts';
import type { Connection } from '../connection.ts';
import type { Write } from '../move-write.ts';

/** Its id comes from the request that is made in the same transaction, so nobody has written it before. */
export const putEscalation = ({ escalationsTable }: Connection, { escalation }: { escalation: Escalation }): Write => ({
  Put: { TableName: escalationsTable, Item: { ...escalation } },
});
