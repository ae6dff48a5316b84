import { CountersignError } from '../../core/errors.ts';
import { type Instant, toMilliseconds } from '../../core/instant.ts';
import type { World } from '../../core/ports.ts';

/** How long a caller waits, and how the tries in between are spread. */
export class Patience {
  readonly #world: Pick<World, 'now' | 'draw' | 'pause'>;
  readonly #until: number;
  #tries = 0;

  /** `until` in epoch milliseconds of the world's clock. */
  constructor(world: Pick<World, 'now' | 'draw' | 'pause'>, until: number) {
    this.#world = world;
    this.#until = until;
  }

  get left(): number {
    return this.#until - toMilliseconds(this.#world.now());
  }

  /** Ends a call, with the SDK's own tries in it, that outlasts the caller or `limit`; an answer that takes longer is unclear. */
  signal(atLeast = 50, limit?: Instant): AbortSignal {
    const left = Math.max(this.left, atLeast);
    if (limit === undefined) return AbortSignal.timeout(left);
    return AbortSignal.timeout(Math.max(Math.min(left, toMilliseconds(limit) - toMilliseconds(this.#world.now())), 1));
  }

  /** Full jitter: anything up to a bound that doubles. Throws `TOO_MANY_REQUESTS` when the caller's time is over. */
  async wait(): Promise<void> {
    const bound = Math.min(1_000, 20 * 2 ** this.#tries++);
    await this.#world.pause(Math.min(this.#world.draw() * bound, Math.max(this.left, 0)));
    this.check();
  }

  check(): void {
    if (this.left > 0) return;
    throw new CountersignError(
      'TOO_MANY_REQUESTS',
      'Too many others write to this request or its run at the moment, or the store does not answer. Ask again in a second.',
      { retryAfterSeconds: 1 },
    );
  }
}
