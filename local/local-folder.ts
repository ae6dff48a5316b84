import { join } from 'node:path';

/** What runs leave behind: the description of the one that `npm start` began, logs, synthesised stacks. Not in git. */
export const localFolder = join(import.meta.dirname, '..', '.local');
