/**
 * An instant as it stands on the wire, in the tables and in the hashed entries: ISO 8601, UTC, milliseconds
 * (`2026-11-30T14:20:00.000Z`). Fixed width, so the order of the strings is the order of time.
 */
export type Instant = string;

/** The only place in `core/` that touches `Date`, and never to read a clock: converting is pure. */
export const fromMilliseconds = (milliseconds: number): Instant => new Date(milliseconds).toISOString();

export const toMilliseconds = (instant: Instant): number => Date.parse(instant);

export const addSeconds = (instant: Instant, seconds: number): Instant =>
  fromMilliseconds(toMilliseconds(instant) + seconds * 1000);

export const earliest = (...instants: (Instant | undefined)[]): Instant | undefined =>
  instants.filter((instant) => instant !== undefined).sort()[0];
