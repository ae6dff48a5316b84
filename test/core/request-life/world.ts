import { addSeconds, fromMilliseconds, type Instant, toMilliseconds } from '../../../core/instant.ts';
import type { World } from '../../../core/ports.ts';
import { seededRandom } from '../seeded-random.ts';

const beginning: Instant = '2026-11-30T14:00:00.000Z';

/** A clock that stands until it is moved (a pause moves it), and randomness that is the same on every run. */
export class TestWorld implements World {
  readonly #random;
  #now = beginning;

  constructor(seed = 1) {
    this.#random = seededRandom(seed);
  }

  now(): Instant {
    return this.#now;
  }

  randomId(): string {
    return Buffer.from(Array.from({ length: 16 }, () => this.#random.below(256))).toString('base64url');
  }

  draw(): number {
    return this.#random.next();
  }

  async pause(milliseconds: number): Promise<void> {
    this.#now = fromMilliseconds(toMilliseconds(this.#now) + Math.ceil(milliseconds));
  }

  pass(seconds: number): void {
    this.#now = addSeconds(this.#now, seconds);
  }

  /** Epoch milliseconds `seconds` from now, for a caller's time. */
  in(seconds: number): number {
    return toMilliseconds(this.#now) + seconds * 1000;
  }
}
