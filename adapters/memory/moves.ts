import type { Move } from '../../core/move.ts';
import type { Precedent } from '../../core/precedent.ts';
import type { Sample, SampleFill } from '../../core/sample.ts';

/** The records that moves write, as the tables hold them. */
export class MemoryRecords {
  readonly precedents = new Map<string, Precedent>();
  readonly samples = new Map<string, Sample & Partial<SampleFill>>();

  /** Whether the move's condition holds now. */
  holds(move: Move): boolean {
    switch (move.kind) {
      case 'precedent':
        return sameSetting(this.precedents.get(placeOf(move.precedent)), move.before);
      case 'precedent-relied-on':
        return sameSetting(this.precedents.get(placeOf(move.precedent)), move.precedent);
      case 'precedent-revocation':
        return sameSetting(this.precedents.get(placeOf(move.before)), move.before);
      case 'sample':
        return true;
      case 'sample-fill':
        return this.samples.has(move.sampleId);
    }
  }

  /** Writes it; its condition was looked at before. */
  apply(move: Move): void {
    switch (move.kind) {
      case 'precedent':
        this.precedents.set(placeOf(move.precedent), move.precedent);
        break;
      case 'precedent-relied-on':
        break;
      case 'precedent-revocation':
        this.precedents.set(placeOf(move.before), { ...move.before, revoked: move.revoked });
        break;
      case 'sample':
        this.samples.set(move.sample.sampleId, move.sample);
        break;
      case 'sample-fill': {
        const sample = this.samples.get(move.sampleId);
        if (sample) this.samples.set(move.sampleId, { ...sample, ...move.fill });
        break;
      }
    }
  }
}

export const placeOf = ({ missionId, precedentId }: Pick<Precedent, 'missionId' | 'precedentId'>): string =>
  `${missionId} ${precedentId}`;

const sameSetting = (now: Precedent | undefined, read: Precedent | undefined): boolean =>
  now?.requestId === read?.requestId && now?.setAt === read?.setAt && now?.revoked?.at === read?.revoked?.at;
