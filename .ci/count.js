// Adds up vitest's JSON reports and closes with one plain line. Fails when a report is missing, or one of them ran no test.
import { readFileSync } from 'node:fs';

const totals = { passed: 0, failed: 0 };
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  totals.passed += report.numPassedTests;
  totals.failed += report.numFailedTests;
  if (!report.success || report.numTotalTests === 0) process.exitCode = 1;
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
