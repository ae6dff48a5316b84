import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { fromMilliseconds } from '../core/instant.ts';
import type { World } from '../core/ports.ts';

const drawSteps = 2 ** 47;

/** The real clock and real randomness; `draw` too is unpredictable, so that an agent cannot choose when it is not sampled. */
export const world: World = {
  now: () => fromMilliseconds(Date.now()),
  randomId: () => randomBytes(16).toString('base64url'),
  draw: () => randomInt(drawSteps) / drawSteps,
  pause: async (milliseconds) => {
    await setTimeout(milliseconds);
  },
};
