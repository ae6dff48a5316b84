import { canonicalJson } from '../../core/canonical-json.ts';
import type { RequestState } from '../../core/request.ts';
import { allOf, type Condition } from './conditions.ts';
import { Expression } from './expression.ts';
import { type Item, stateItem, stateKey } from './items.ts';

/** Maps of which each member lives its own life: `dispatch` and late attempts move them without a new version. */
const maps = ['owed', 'delivered', 'lateAttempts'] as const;
/** `dispatch` lets a request rest without a new version, so what was read may be stale: always written. */
const alwaysWritten = new Set(['wakeAt', 'dueShard']);

/** The update from `before` to `after`, attribute by attribute: what `before` had and `after` shares is left as it is. */
export function stateUpdate(before: RequestState, after: RequestState, ...conditions: Condition[]) {
  const expression = new Expression();
  const sets: string[] = [];
  const removes: string[] = [];
  const move = (path: [string, ...string[]], value: unknown) => {
    const name = expression.name(...path);
    if (value === undefined) removes.push(name);
    else sets.push(`${name} = ${expression.value(value)}`);
  };

  const [old, next] = [stateItem(before), stateItem(after)];
  for (const attribute of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (attribute === 'requestId' || attribute === 'part' || isMap(attribute)) continue;
    if (alwaysWritten.has(attribute) || !same(old[attribute], next[attribute])) move([attribute], next[attribute]);
  }
  for (const map of maps) {
    for (const member of membersGone(before[map], after[map])) move([map, member], undefined);
    for (const member of membersNew(before[map], after[map])) move([map, member], after[map][member]);
  }
  const text = [sets.length > 0 && `SET ${sets.join(', ')}`, removes.length > 0 && `REMOVE ${removes.join(', ')}`];
  return {
    Key: stateKey(after.requestId),
    UpdateExpression: text.filter(Boolean).join(' '),
    ConditionExpression: allOf(...conditions)(expression),
    ...expression.parameters(),
  };
}

const isMap = (attribute: string): boolean => (maps as readonly string[]).includes(attribute);

const membersGone = (before: Item, after: Item) =>
  Object.keys(before).filter((member) => !Object.hasOwn(after, member));
const membersNew = (before: Item, after: Item) => Object.keys(after).filter((member) => !Object.hasOwn(before, member));

const same = (one: unknown, other: unknown): boolean =>
  one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other);
