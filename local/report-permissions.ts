import { awsUses } from '../lib/aws-uses.ts';
import { printReport, reportPermissions } from './permission-report.ts';
import { readRecordings } from './recorded-calls.ts';
import { readTemplate } from './template.ts';

/**
 * `node local/report-permissions.ts <cdk.out> <recordings>`: prints which grants the recorded calls need and which nothing
 * needs. The recordings are what services wrote that ran with COUNTERSIGN_RECORD_CALLS=<recordings>. Ends with 1 where a grant is unused.
 */
const [cdkOut, recordings] = process.argv.slice(2);
if (!cdkOut || !recordings) {
  console.error('usage: node local/report-permissions.ts <cdk.out> <folder of recordings>');
  process.exit(2);
}
const template = readTemplate(cdkOut, { apiEndpoint: 'http://localhost', issuer: 'http://localhost' });
const report = reportPermissions(template, readRecordings(recordings), awsUses);
console.log(printReport(report));
process.exitCode = report.unused.length > 0 || report.strange.length > 0 ? 1 : 0;
