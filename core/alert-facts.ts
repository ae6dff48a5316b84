import type { Action } from './action.ts';
import { canonicalJson, fromCanonical } from './canonical-json.ts';
import type { Instant } from './instant.ts';
import type { JsonValue } from './json.ts';
import { maskArguments, pointerTo, secretPlaces } from './json-pointer.ts';
import type { StoredRequest } from './ports.ts';
import { printText, type RenderedArgument, renderArguments, renderLine } from './render-value.ts';
import type { Owed, RequestState } from './request.ts';

/** One argument as an alert may show it: a secret is only the mark of its length. */
export interface AlertValue extends RenderedArgument {
  secret: boolean;
  /** Among the first four scalars in canonical order: what an approver is told first. */
  leads: boolean;
}

/** What every text of an alert is made of. The agent's own summary is not among it. */
export interface AlertFacts {
  state: RequestState;
  owed: Owed;
  link: string;
  action: Action;
  values: AlertValue[];
  /** The role that hears of it is still asked. */
  isAsked: boolean;
}

const mostLeading = 4;

export function alertFacts({ state, contents }: StoredRequest, owed: Owed, webUrl: string): AlertFacts {
  const canonical = contents.get(state.effectiveDigest);
  if (canonical === undefined) throw new TypeError(`request ${state.requestId} lacks content ${state.effectiveDigest}`);
  const action = fromCanonical<JsonValue>(canonical) as unknown as Action;
  const { secretPaths } = state.policy;
  const masked = maskArguments(action.actionArgs, secretPaths);
  const hidden = new Set(secretPlaces({ actionArgs: action.actionArgs }, secretPaths).map(pointerTo));
  let leading = 0;
  const values = renderArguments(masked).map((argument): AlertValue => {
    if (hidden.has(`/actionArgs${argument.pointer}`)) {
      const mark = String(argument.value).slice(1, -1);
      return { ...argument, parts: [{ kind: 'mark', text: mark }], secret: true, leads: false };
    }
    const isScalar = argument.value === null || typeof argument.value !== 'object';
    const leads = isScalar && leading < mostLeading;
    if (leads) leading += 1;
    return { ...argument, secret: false, leads };
  });
  return {
    state,
    owed,
    link: `${webUrl}/r/${state.requestId}`,
    action: { ...action, actionArgs: masked },
    values,
    isAsked: state.status === 'PENDING' && owed.level === state.level && state.asked.includes(owed.role),
  };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `14:20 UTC`: rounded down, so never later than the instant. */
export const timeOf = (instant: Instant): string => `${instant.slice(11, 16)} UTC`;

/** `30 Nov`. */
export const dayOf = (instant: Instant): string =>
  `${Number(instant.slice(8, 10))} ${months[Number(instant.slice(5, 7)) - 1]}`;

/** How many characters a value has: code points of a string, of the canonical form of anything else. */
export const charactersOf = (value: JsonValue): number =>
  [...(typeof value === 'string' ? value : canonicalJson(value))].length;

/** Somebody's name or id on one line of plain text, marks in square brackets, never longer than about `most` characters. */
export function printName(name: string, most = 200): string {
  const characters = [...name];
  const shown = printText(renderLine(characters.slice(0, most).join('')), ['[', ']']);
  return characters.length > most ? `${shown}[${characters.length - most} more characters, on the page]` : shown;
}
