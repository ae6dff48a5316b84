/**
 * One stored record is not what was written: somebody or something else changed the table. Every reading port may throw it.
 * Names the record, never its values.
 */
export class CorruptRecordError extends Error {
  constructor(record: string, reason: string) {
    super(`The stored record ${record} cannot be read: ${reason}.`);
    this.name = 'CorruptRecordError';
  }
}
