import type { Action } from '../core/action.ts';
import { fromCanonical } from '../core/canonical-json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import { maskArguments, maskSecrets } from '../core/json-pointer.ts';
import type { StoredRequest } from '../core/ports.ts';
import { readTexts } from '../core/texts.ts';

/** More arguments than these are shown as the canonical text in one piece. */
export const mostRows = 2000;

/** The arguments that an approval would allow now, from the stored canonical form, with the policy's secrets hidden. */
export function argumentsShown({ state, contents }: StoredRequest): JsonObject {
  const canonical = contents.get(state.effectiveDigest);
  if (canonical === undefined) throw new Error(`content ${state.effectiveDigest} is missing`);
  return maskArguments(fromCanonical<Action & JsonObject>(canonical).actionArgs, state.policy.secretPaths);
}

const notSeen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|[\p{Zs}--[ ]]/gv;

/**
 * JSON to edit in a text field: what cannot be seen stands as its escape, so that nothing hides in the field and the field's
 * own line breaks change nothing. The strict parser reads back exactly the value.
 */
export const editableJson = (value: JsonValue): string =>
  JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replace(notSeen, escapeOf).replace(/(?<=\S) {3,}/g, escapeOf))
    .join('\n');

const escapeOf = (text: string): string =>
  Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** What the agent says beside the arguments: why, and of a step that has already run, what came of it. */
export function saidByAgent({ state, contents }: StoredRequest): { summary?: string; result?: JsonValue } {
  const texts = readTexts(contents, state.textsDigest) ?? {};
  const { contextSummary, actionResult } = maskSecrets(texts, state.policy.secretPaths);
  return {
    ...(typeof contextSummary === 'string' && { summary: contextSummary }),
    ...(actionResult !== undefined && { result: actionResult }),
  };
}

/** The note and the response that came with a vote, a decision or a revocation. */
export function wordsOf(
  { contents }: StoredRequest,
  textDigest: string | undefined,
): { note?: string; response?: JsonValue } {
  const { note, response } = readTexts(contents, textDigest) ?? {};
  return { ...(typeof note === 'string' && { note }), ...(response !== undefined && { response }) };
}
