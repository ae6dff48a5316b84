import { createHash } from 'node:crypto';
import type { Action } from './action.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Instant } from './instant.ts';
import { valueAt } from './json-pointer.ts';

/** An earlier approval that makes an `approval_novel` action with the same novelty values no longer novel. */
export interface Precedent {
  /** Derived from the action and its novelty values: one record for each in a mission. */
  precedentId: string;
  missionId: string;
  actionName: string;
  /** The pointers into the arguments whose values it covers. */
  noveltyKey: string[];
  /** The request that a person approved and the agent claimed. */
  requestId: string;
  runId: string;
  approvedBy: string[];
  approvedAt: Instant;
  setAt: Instant;
  revoked?: { by: string; at: Instant };
}

/** Which precedent, and which request set it. */
export type PrecedentRef = Pick<Precedent, 'precedentId' | 'requestId'>;

const hash = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');
const hashLength = 43;

/** An action's name is the agent's text and may be too long for a key. */
export const actionKeyOf = (actionName: string): string => hash(actionName);

type Acting = Pick<Action, 'actionName' | 'actionArgs' | 'phase'>;

/**
 * The same for two actions that differ in nothing that the key looks at. A value that is missing is a value of its own,
 * unlike `null`. The pointers are in it: under another `noveltyKey` everything is novel again. So is the phase: whoever was
 * content with a result has not approved of the step.
 */
export function precedentIdOf({ actionName, actionArgs, phase }: Acting, noveltyKey: readonly string[]): string {
  const values = [...new Set(noveltyKey)].sort().map((pointer) => {
    const value = valueAt(actionArgs, pointer);
    return value === undefined ? [pointer] : [pointer, value];
  });
  return actionKeyOf(actionName) + hash(`countersign/novelty/v1\n${canonicalJson([phase, values])}`);
}

/** The two halves of an id: whose action it is, and which values of it. Each is a whole SHA-256 in base64url. */
export const keyOfPrecedent = (precedentId: string): { action: string; values: string } => ({
  action: precedentId.slice(0, hashLength),
  values: precedentId.slice(hashLength),
});

export const isPrecedentId = (text: string): boolean => /^[\w-]{86}$/.test(text);
