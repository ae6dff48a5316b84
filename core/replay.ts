import { sha256Hex } from './canonical-json.ts';
import type { JsonObject } from './json.ts';
import type { Effect, MissionPolicy } from './policy.ts';
import { judgeAlone, untold } from './policy-case.ts';

/** A recorded run: what an agent did, in order. */
export interface RecordedRun {
  run: string;
  actions: { name: string; args: JsonObject }[];
}

/** How the calls of one action would have gone. */
export interface ActionTally extends Record<Effect, number> {
  action: string;
  calls: number;
  /** Of those that are allowed: drawn for review afterwards. */
  drawn: number;
}

/**
 * Every call of the runs under a mission's policy, by action, the most frequent first. Draws come from the run and the place
 * of the call in it, so that the same runs have the same table.
 */
export function replayRuns(mission: MissionPolicy, runs: readonly RecordedRun[]): ActionTally[] {
  const tallies = new Map<string, ActionTally>();
  for (const { run, actions } of runs)
    for (const [index, { name, args }] of actions.entries()) {
      const tally = tallies.get(name) ?? { action: name, calls: 0, allow: 0, drawn: 0, pause: 0, stop: 0 };
      const { effect } = judgeAlone(mission, {
        actionName: name,
        actionArgs: args,
        runId: run,
        missionId: mission.missionId,
        phase: untold.phase,
        requestedBy: untold.agent,
        now: untold.now,
        attempt: untold.attempt,
      });
      tally.calls += 1;
      tally[effect] += 1;
      const rate = mission.actions.get(name)?.sampleRate ?? 0;
      if (effect === 'allow' && drawOf(run, index) < rate) tally.drawn += 1;
      tallies.set(name, tally);
    }
  return [...tallies.values()].toSorted(
    (one, other) => other.calls - one.calls || (one.action < other.action ? -1 : 1),
  );
}

/** In [0, 1): the first 52 bits of a hash. */
const drawOf = (run: string, index: number): number =>
  Number.parseInt(sha256Hex(`countersign/replay-draw/v1\n${run}\n${index}`).slice(0, 13), 16) / 2 ** 52;
