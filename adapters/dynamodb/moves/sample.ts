import type { Move } from '../../../core/move.ts';
import type { Connection } from '../connection.ts';
import { Expression } from '../expression.ts';
import type { Write } from '../move-write.ts';

type Of<Kind extends Move['kind']> = Extract<Move, { kind: Kind }>;

export const putSample = ({ samplesTable }: Connection, { sample }: Of<'sample'>): Write => ({
  Put: { TableName: samplesTable, Item: { ...sample } },
});

/** With `reviewQueue` the sparse index begins to hold it. */
export function fillSample({ samplesTable }: Connection, { sampleId, fill }: Of<'sample-fill'>): Write {
  const expression = new Expression();
  const sets = Object.entries(fill)
    .filter(([, value]) => value !== undefined)
    .map(([attribute, value]) => `${expression.name(attribute)} = ${expression.value(value)}`);
  return {
    Update: {
      TableName: samplesTable,
      Key: { sampleId },
      UpdateExpression: `SET ${sets.join(', ')}`,
      ConditionExpression: `attribute_exists(${expression.name('sampleId')})`,
      ...expression.parameters(),
    },
  };
}
