import { defineConfig } from 'vitest/config';

/** The pages in a real Chromium; `.ci/install-chromium` brings it where it is missing. */
export default defineConfig({
  test: {
    name: 'pages',
    include: ['test/pages/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
