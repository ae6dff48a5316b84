import { defineConfig } from 'vitest/config';

/** Quick tests first; then what is tried on tens of thousands of inputs, and what starts a service or an engine; last the permissions, over the calls that all of these made. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'architecture', include: ['test/architecture/**/*.test.ts'], sequence: { groupOrder: 0 } } },
      {
        test: {
          name: 'unit',
          include: ['test/{core,http}/**/*.test.ts'],
          exclude: ['**/*.property.test.ts'],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'property',
          include: ['test/**/*.property.test.ts'],
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'service',
          include: ['test/{store,stack,local,service,example,readme,cli}/**/*.test.ts'],
          globalSetup: ['test/service/record-calls.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'permissions',
          include: ['test/permissions/**/*.test.ts'],
          testTimeout: 60_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
