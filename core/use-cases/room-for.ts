import { actionContent } from '../action.ts';
import { attemptKey, editedInPlaceOf } from '../audit-chain.ts';
import type { RunFacts } from '../audit-entry.ts';
import { boundsPassed, onceEdited } from '../bounds.ts';
import { bodyDigest, type CreationContext, type Question } from '../creation.ts';
import { CountersignError } from '../errors.ts';
import { isInForce, placeOfPrecedent } from '../novelty.ts';
import type { MissionPolicy } from '../policy.ts';
import type { PrecedentStore, RequestStore, StoredRequest } from '../ports.ts';
import type { Precedent } from '../precedent.ts';
import type { RequestState } from '../request.ts';
import { type Places, pendingOfAgent, placeOfQuestion } from '../reservation.ts';
import { type Counters, counterOf, type Window, windowsFor } from '../window.ts';

/** Seconds after which somebody may have answered one of many. */
const retryAfterSeconds = 30;

interface Asked {
  question: Question;
  mission: MissionPolicy;
  requestedBy: string;
  /** Of the run's tail. */
  run: RunFacts | undefined;
  /** Whoever names a key says whether it is a new question: an equal one that waits is not given in its place. */
  isKeyed: boolean;
}

/** What a create has to respect beside the rules, and what it found of it. */
export interface Room extends Required<Pick<CreationContext, 'counters' | 'places' | 'tellsOfFailure'>> {
  editedEarlier: string | undefined;
  /** The one in force for the action. */
  precedent: Precedent | undefined;
  counters: Counters;
  places: Places;
}

/**
 * Reads the counters of the windows that the mission declares over the action, and its precedent: nothing where there are none. The places of the
 * agent and of the question itself are guarded by the write, so they are read only where one was lost (`again`) or the run is full.
 */
export async function roomFor(store: RequestStore & PrecedentStore, asked: Asked, again: boolean): Promise<Room> {
  const { question, mission, requestedBy, run, isKeyed } = asked;
  const policy = mission.actions.get(question.actionName) ?? mission.unlisted;
  const windows = windowsFor(mission, policy, question.actionName);
  const places = placesOf(asked);
  const keys = windows.flatMap((window) => counterOf(window, { ...question, requestedBy }) ?? []);
  if (again || isFull(asked)) keys.push(...[places.agent, places.equal].flatMap((place) => place?.counter ?? []));
  const { counters, precedent } = await readBoth(store, keys, placeOfPrecedent(policy, question));
  const isTaken = places.equal && counters.get(places.equal.counter)?.heldBy !== undefined;
  const { equal: _, ...withoutEqual } = places;
  return {
    counters,
    precedent: isInForce(precedent, { requestedBy, onBehalfOf: question.onBehalfOf }) ? precedent : undefined,
    places: isKeyed && isTaken ? withoutEqual : places,
    editedEarlier: editedInPlaceOf(run, actionContent(question).digest),
    tellsOfFailure: !(run?.repeatedFailures ?? []).includes(attemptKey(question.actionName)),
  };
}

/** One read at most. */
async function readBoth(
  store: RequestStore & PrecedentStore,
  keys: readonly string[],
  place: Pick<Precedent, 'missionId' | 'precedentId'> | undefined,
): Promise<{ counters: Counters; precedent?: Precedent | undefined }> {
  if (place && keys.length > 0) return store.readCountersAndPrecedent(keys, place);
  if (place) return { counters: new Map(), precedent: await store.readPrecedent(place) };
  return { counters: keys.length > 0 ? await store.readCounters(keys) : new Map() };
}

/** The windows over a request that exists, as they stand now; of a mission that is gone there are none. */
export async function readWindowsOf(
  store: RequestStore,
  mission: MissionPolicy | undefined,
  state: RequestState,
): Promise<{ windows: Window[]; counters: Counters }> {
  const { actionName } = state;
  const windows = mission ? windowsFor(mission, mission.actions.get(actionName) ?? mission.unlisted, actionName) : [];
  const keys = windows.flatMap((window) => counterOf(window, state) ?? []);
  return { windows, counters: keys.length > 0 ? await store.readCounters(keys) : new Map() };
}

function placesOf({ question, mission, requestedBy, run, isKeyed }: Asked): Places {
  const { agent } = mission.bounds.maxPending;
  return {
    ...(agent !== undefined && {
      agent: { counter: pendingOfAgent(question.missionId, requestedBy), atMost: agent },
    }),
    ...(question.occurrenceId === undefined && {
      equal: {
        counter: placeOfQuestion(requestedBy, bodyDigest(question)),
        isChecked: !isKeyed && (run?.pending ?? 0) > 0,
      },
    }),
  };
}

const isFull = ({ mission, run }: Asked): boolean => (run?.pending ?? 0) >= (mission.bounds.maxPending.run ?? Infinity);

/** The request of the run that waits and asks exactly this, where the counters that were read name one. */
export async function equalThatWaits(
  store: RequestStore,
  { counters, places }: Room,
): Promise<StoredRequest | undefined> {
  const holder = places.equal && counters.get(places.equal.counter)?.heldBy;
  const request = holder === undefined ? undefined : await store.readRequest(holder);
  return request?.state.status === 'PENDING' ? request : undefined;
}

/** What the run has come to, judged beside the rules. */
export const imposedBy = ({ question, mission, run }: Asked, { editedEarlier }: Room, attempt: number) => [
  ...boundsPassed(mission.actions.get(question.actionName) ?? mission.unlisted, mission, {
    attempt,
    request: (run?.requests ?? 0) + 1,
  }),
  ...onceEdited(editedEarlier),
];

/** Throws `TOO_MANY_REQUESTS`: one more would wait, and as many wait as may. */
export function refuseTooMany({ status }: RequestState, asked: Asked, { counters, places }: Room): void {
  if (status !== 'PENDING') return;
  const { run, agent } = asked.mission.bounds.maxPending;
  const refuse = (whose: string, most: number | undefined): never => {
    throw new CountersignError(
      'TOO_MANY_REQUESTS',
      `${whose} has ${most} requests that wait for people, which is the most; wait for an answer, or cancel one.`,
      { retryAfterSeconds, maxPending: most ?? null },
    );
  };
  if (isFull(asked)) refuse(`The run ${asked.question.runId}`, run);
  const pending = places.agent && counters.get(places.agent.counter)?.pending;
  if (agent !== undefined && pending !== undefined && pending >= agent) refuse(asked.requestedBy, agent);
}
