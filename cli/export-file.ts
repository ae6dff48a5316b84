import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';

/** JSON Lines that grow by whole lines: what was cut off in the middle of one is taken off before going on. */
export class ExportFile {
  readonly path: string;
  /** Ids of the requests that are in the file. */
  readonly ids = new Set<string>();

  private constructor(path: string) {
    this.path = path;
  }

  /** For nobody else to read: it holds what customers wrote. */
  static begin(path: string): ExportFile {
    writeFileSync(path, '', { mode: 0o600 });
    return new ExportFile(path);
  }

  /** Goes on after the last complete line. */
  static resume(path: string): ExportFile {
    if (!existsSync(path)) return ExportFile.begin(path);
    const file = new ExportFile(path);
    const bytes = readFileSync(path);
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    if (whole.length < bytes.length) truncateSync(path, whole.length);
    for (const line of whole.toString('utf8').split('\n')) if (line !== '') file.ids.add(idOf(line, path));
    return file;
  }

  append(requests: readonly { requestId: string }[]): void {
    appendFileSync(this.path, requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
    for (const { requestId } of requests) this.ids.add(requestId);
  }
}

function idOf(line: string, path: string): string {
  try {
    const { requestId } = JSON.parse(line) as { requestId?: unknown };
    if (typeof requestId === 'string') return requestId;
  } catch {
    // said below
  }
  throw new Error(`${path} holds a line that is no exported request; begin again without --resume`);
}
