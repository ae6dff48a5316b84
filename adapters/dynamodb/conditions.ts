import type { Instant } from '../../core/instant.ts';
import type { Status } from '../../core/request.ts';
import type { Expression } from './expression.ts';

/** What must hold at the instant of the write. */
export type Condition = (expression: Expression) => string;

export const allOf =
  (...conditions: Condition[]): Condition =>
  (expression) =>
    conditions.map((condition) => condition(expression)).join(' AND ');

/** On a new state: nobody has made this request. */
export const idFree: Condition = (expression) => `attribute_not_exists(${expression.name('requestId')})`;

/** On a new entry: the run's chain has not come this far. */
export const sequenceFree: Condition = (expression) => `attribute_not_exists(${expression.name('runId')})`;

export const exists: Condition = (expression) => `attribute_exists(${expression.name('requestId')})`;

export const sameVersion =
  (version: number): Condition =>
  (expression) =>
    `${expression.name('version')} = ${expression.value(version)}`;

export const stillIn =
  (status: Status): Condition =>
  (expression) =>
    `${expression.name('status')} = ${expression.value(status)}`;

/** A vote counts before the deadline and not at it, a claim before `claimBy`, whatever the sweep has done. */
export const isAfter =
  (attribute: 'deadline' | 'claimBy', now: Instant): Condition =>
  (expression) =>
    `${expression.name(attribute)} > ${expression.value(now)}`;

export const requestedBy =
  (principal: string): Condition =>
  (expression) =>
    `${expression.name('requestedBy')} = ${expression.value(principal)}`;

export const stillOwed =
  (id: string): Condition =>
  (expression) =>
    `attribute_exists(${expression.name('owed', id)})`;

/** Nobody has taken the delivery since it was seen. */
export const notLeasedSince =
  (id: string, seen: Instant): Condition =>
  (expression) =>
    `${expression.name('owed', id, 'nextAt')} = ${expression.value(seen)}`;

export const owesExactly =
  (ids: readonly string[]): Condition =>
  (expression) =>
    [
      `size(${expression.name('owed')}) = ${expression.value(ids.length)}`,
      ...ids.map((id) => stillOwed(id)(expression)),
    ].join(' AND ');
