import { type Counter, counterAfter, nothingCounted } from '../../core/counter.ts';
import type { Escalation } from '../../core/escalation.ts';
import type { Move } from '../../core/move.ts';
import type { Precedent } from '../../core/precedent.ts';
import type { PolicyHead, PublishedPolicy } from '../../core/published-policy.ts';
import type { Sample, SampleFill } from '../../core/sample.ts';

/** The records that moves write, as the tables hold them. */
export class MemoryRecords {
  readonly precedents = new Map<string, Precedent>();
  readonly samples = new Map<string, Sample & Partial<SampleFill>>();

  readonly escalations = new Map<string, Escalation>();
  readonly counters = new Map<string, Counter>();
  readonly heads = new Map<string, PolicyHead>();
  readonly published = new Map<string, PublishedPolicy>();

  /** Whether the move's condition holds now. */
  holds(move: Exclude<Move, { kind: 'entry' }>): boolean {
    switch (move.kind) {
      case 'counter':
        return counterAfter(this.#counter(move.counter), move) !== undefined;
      case 'escalation':
        return true;
      case 'policy-version':
        return !this.published.has(versionPlace(move.published));
      case 'policy-head': {
        const head = this.heads.get(move.missionId);
        return head?.newest === move.before?.newest && head?.forced === move.before?.forced;
      }
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
  apply(move: Exclude<Move, { kind: 'entry' }>): void {
    switch (move.kind) {
      case 'counter': {
        const counter = counterAfter(this.#counter(move.counter), move);
        if (counter) this.counters.set(move.counter, counter);
        break;
      }
      case 'escalation':
        this.escalations.set(move.escalation.escalationId, move.escalation);
        break;
      case 'policy-version':
        this.published.set(versionPlace(move.published), move.published);
        break;
      case 'policy-head':
        this.heads.set(move.missionId, move.after);
        break;
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

  #counter(key: string): Counter {
    return this.counters.get(key) ?? nothingCounted;
  }
}

export const placeOf = ({ missionId, precedentId }: Pick<Precedent, 'missionId' | 'precedentId'>): string =>
  `${missionId} ${precedentId}`;

export const versionPlace = ({ missionId, version }: Pick<PublishedPolicy, 'missionId' | 'version'>): string =>
  `${missionId} ${version}`;

const sameSetting = (now: Precedent | undefined, read: Precedent | undefined): boolean =>
  now?.requestId === read?.requestId && now?.setAt === read?.setAt && now?.revoked?.at === read?.revoked?.at;
