import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../adapters/memory/store.ts';
import { sealEntry } from '../../../core/audit-chain.ts';
import type { AuditEntry, UnsealedEntry } from '../../../core/audit-entry.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { StoredEntry } from '../../../core/ports.ts';
import { drawOf } from '../../../core/sampling.ts';
import { alteredStore } from './altered-store.ts';
import { Desk, people } from './desk.ts';

const policy = `
mission: default
defaults: { approverRole: support_agent }
actions:
  tag: { policy: sampling, sampleRate: 0.4, approverRole: support_manager, reason: Cheap }
  never: { policy: sampling, sampleRate: 0, reason: Cheap }
  greet:
    policy: approval_novel
    noveltyKey: [/to]
    reason: Each new person
    rules: [{ id: short, when: 'size(args.text) < 5', then: allow, reason: A short one }]
  look: { policy: autonomous, reason: Read-only }
`;

class Sampled extends Desk {
  readonly memory: MemoryStore;
  constructor(memory = new MemoryStore(), seed = 1) {
    super({ store: memory, policy, seed });
    this.memory = memory;
  }
  async tag(more: JsonObject = {}) {
    return (await this.ask('tag', more)).state;
  }
  /** Asks until one is drawn. */
  async drawn() {
    for (;;) {
      const state = await this.tag();
      if (state.sample?.sampled) return state;
    }
  }
  sample = (id: string) => this.memory.records.samples.get(id);
  async entries(): Promise<UnsealedEntry[]> {
    return (await this.store.entries('run-1', 0, 1000)).map(({ canonical }) => JSON.parse(canonical));
  }
}

describe('a sampled action', () => {
  test('given its entry, then anybody recomputes the draw', async () => {
    const desk = new Sampled();
    for (let n = 0; n < 20; n++) await desk.tag();
    const entries = await desk.entries();
    for (const { runId, requestId = '', previousHash, details } of entries) {
      const { sample, textsDigest } = details as { sample: { draw: number }; textsDigest: string };
      expect(sample.draw).toBe(drawOf({ runId, requestId, previousHash, textsDigest }));
    }
    expect((await desk.verify()).intact).toBe(true);
  });

  test('given the very same question twice, then the draw is another: the salt is nobody’s choice', async () => {
    const draws = [];
    for (const seed of [1, 2, 3]) {
      const desk = new Sampled(new MemoryStore(), seed);
      draws.push((await desk.ask('tag', {}, 'the-same-key')).state.sample?.draw);
    }
    expect(new Set(draws).size).toBe(3);
  });

  test('given an unsure agent, then three times the rate, and at most 1; given a sure one, the rate', async () => {
    const desk = new Sampled();
    expect((await desk.tag({ agentConfidence: 0.69 })).sample).toMatchObject({ rate: 1, sampled: true });
    expect((await desk.tag({ agentConfidence: 0.7 })).sample?.rate).toBe(0.4);
    expect((await desk.tag()).sample?.rate).toBe(0.4);
    expect((await desk.ask('never', { agentConfidence: 0.1 })).state.sample).toMatchObject({ rate: 0, sampled: false });
    expect((await desk.ask('look')).state.sample).toBeUndefined();
  });

  test('given a novel one that a rule allows, then always; given a precedent, no longer', async () => {
    const desk = new Sampled();
    const short = { actionArgs: { to: 'ann', text: 'hi' } };
    expect((await desk.ask('greet', short)).state).toMatchObject({
      status: 'APPROVED',
      sample: { rate: 1, sampled: true },
    });
    const actionArgs = { to: 'ann', text: 'hello there' };
    const { requestId } = (await desk.ask('greet', { actionArgs })).state;
    await desk.vote(requestId, people.alice, 'approve');
    await desk.claim(requestId, { actionArgs });
    expect((await desk.ask('greet', short)).state.sample).toBeUndefined();
  });

  test('given one that was drawn, then a sample stands with it; given one that was not, none', async () => {
    const desk = new Sampled();
    const state = await desk.drawn();
    expect(desk.sample(state.requestId)).toEqual({
      sampleId: state.requestId,
      runId: 'run-1',
      missionId: 'default',
      actionName: 'tag',
      policyVersion: state.policy.version,
      requestedBy: 'support-bot',
      sampledAt: state.requestedAt,
      effectiveDigest: state.effectiveDigest,
    });
    expect([...desk.memory.records.samples.keys()]).toEqual([state.requestId]);
  });

  test('given its outcome, then the sample holds it and waits for its reviewers', async () => {
    const desk = new Sampled();
    const { requestId } = await desk.drawn();
    const { claimId } = await desk.claim(requestId);
    expect(desk.sample(requestId)).not.toHaveProperty('reviewQueue');
    await desk.report(requestId, { claimId, outcome: 'unknown' });
    expect(desk.sample(requestId)).toMatchObject({ outcome: 'unknown', reviewQueue: 'support_manager' });
    await desk.report(requestId, { claimId, outcome: 'failed', result: { why: 'no such tag' } });
    const { state, contents } = await desk.read(requestId);
    const sample = desk.sample(requestId);
    expect(sample).toMatchObject({ outcome: 'failed', reportedAt: desk.world.now() });
    expect(contents.get(sample?.resultDigest ?? '')).toMatch('no such tag');
    expect(state.status).toBe('APPROVED');
  });

  test('given a request that was not drawn, then its outcome makes no sample', async () => {
    const desk = new Sampled();
    const { requestId } = (await desk.ask('look')).state;
    const { claimId } = await desk.claim(requestId);
    await desk.report(requestId, { claimId, outcome: 'succeeded' });
    expect(desk.memory.records.samples.size).toBe(0);
  });
});

describe('the verification', () => {
  /** The only entry of a run, sealed again after a change: its hash holds, and the request points at it. */
  async function resealed(change: (sample: { draw: number; rate: number; sampled: boolean }) => object) {
    const desk = new Sampled();
    const { requestId } = await desk.drawn();
    const all = await desk.store.entries('run-1', 0, 1000);
    const last = all.at(-1) as StoredEntry;
    const entry: AuditEntry & { details: { sample: { draw: number; rate: number; sampled: boolean } } } = JSON.parse(
      last.canonical,
    );
    const sample = change(entry.details.sample);
    const forged = sealEntry({ ...entry, details: { ...entry.details, sample } } as UnsealedEntry);
    const { hash, canonical } = forged;
    desk.store = alteredStore(desk.memory, {
      entries: (entries) => entries.map((one) => (one.sequence === last.sequence ? { ...last, hash, canonical } : one)),
      request: (request) =>
        request.state.requestId === requestId
          ? {
              ...request,
              state: { ...request.state, sample: sample as never, lastEntry: { sequence: last.sequence, hash } },
            }
          : request,
    });
    return { ...(await desk.verify()), at: last.sequence };
  }

  test('given nothing changed, then intact', async () => {
    expect(await resealed((sample) => sample)).toMatchObject({ intact: true });
  });

  test.each<[string, (sample: { draw: number; rate: number; sampled: boolean }) => object, RegExp]>([
    ['another draw', (sample) => ({ ...sample, draw: 0.999 }), /records the draw 0\.999/],
    ['a draw that was not taken for what it is', (sample) => ({ ...sample, sampled: false }), /taken for not drawn/],
  ])('given %s, though everything was hashed again, then it is named', async (_, change, reason) => {
    const { intact, brokenAt, reason: said, at } = await resealed(change);
    expect({ intact, brokenAt }).toEqual({ intact: false, brokenAt: at });
    expect(said).toMatch(reason);
  });

  test('given a request that says another draw than its entry, then it is named', async () => {
    const desk = new Sampled();
    const { requestId } = await desk.drawn();
    desk.store = alteredStore(desk.memory, {
      request: (request) =>
        request.state.requestId === requestId
          ? { ...request, state: { ...request.state, sample: { rate: 0.4, draw: 0.9, sampled: false } } }
          : request,
    });
    expect(await desk.verify()).toMatchObject({ intact: false, reason: expect.stringMatching(/says sample/) });
  });
});
