import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { localFolder } from './local-folder.ts';
import type { ServiceDescription } from './service.ts';

/** Where a running service is described, for whoever wants to call it. */
export interface ServiceFile {
  path: string;
  /** `.local/…`, as one types it in the project's folder. */
  shown: string;
  remove(): void;
}

/** Writes `service.json`, or `service-<port>.json` where another service that still answers is described there. */
export async function writeServiceFile(description: ServiceDescription, folder = localFolder): Promise<ServiceFile> {
  const usual = join(folder, 'service.json');
  const other = apiUrlIn(usual);
  const taken = other !== undefined && other !== description.apiUrl && (await answers(other));
  const path = taken ? join(folder, `service-${new URL(description.apiUrl).port}.json`) : usual;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 });
  return {
    path,
    shown: `.local/${basename(path)}`,
    remove: () => {
      if (apiUrlIn(path) === description.apiUrl) rmSync(path, { force: true });
    },
  };
}

function apiUrlIn(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as ServiceDescription).apiUrl;
  } catch {
    return undefined;
  }
}

/** A slow one is there too. */
const answers = (apiUrl: string): Promise<boolean> =>
  fetch(`${apiUrl}/v1/health`, { signal: AbortSignal.timeout(3_000) }).then(
    ({ ok }) => ok,
    (error: Error) => error.name === 'TimeoutError',
  );
