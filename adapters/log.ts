/**
 * One JSON line on standard output, past the runtime's own prefix. Never with arguments, texts or the message of an
 * unexpected error (it may quote them): names, ids and places only.
 */
export function log(level: 'info' | 'error', message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ ...fields, level, message })}\n`);
}

/** What may be said of an unexpected error: its kind and where it came from. */
export function traceOf(error: unknown): { error: string; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: at.slice(0, 12).map((line) => line.trim()) };
}

/** CloudWatch's embedded metric format: a line of the log that counts. */
export function count(metrics: Readonly<Record<string, number>>): void {
  const names = Object.keys(metrics).map((Name) => ({ Name, Unit: 'Count' }));
  const directive = { Namespace: 'Countersign', Dimensions: [[]], Metrics: names };
  process.stdout.write(
    `${JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] }, ...metrics })}\n`,
  );
}
