import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Which folders, packages and Node modules each layer may import. A room stands above all that it imports. */
const layers: Record<string, { folders: string[]; packages: RegExp }> = {
  core: {
    folders: ['core'],
    packages: /^(zod|canonicalize|jsonc-parser|yaml|@bufbuild\/cel(\/ext)?|@bufbuild\/protobuf\/wkt|node:crypto)$/,
  },
  adapters: {
    folders: ['core', 'adapters'],
    packages: /^(zod|@aws-sdk\/.+|@smithy\/.+|aws-lambda|jose|openid-client|node:.+)$/,
  },
  lambdas: { folders: ['core', 'adapters', 'web', 'lambdas'], packages: /^(zod|aws-lambda|hono(\/.+)?|node:.+)$/ },
  web: { folders: ['core', 'web'], packages: /^(zod|hono(\/.+)?)$/ },
  lib: {
    folders: ['lib', 'adapters', 'core'],
    packages: /^(aws-cdk-lib(\/.+)?|constructs|cdk-nag|esbuild|zod|node:.+)$/,
  },
  bin: { folders: ['lib', 'core'], packages: /^(aws-cdk-lib(\/.+)?|cdk-nag|node:.+)$/ },
  client: { folders: ['client'], packages: /^(zod|node:.+)$/ },
  cli: { folders: ['cli', 'client', 'core'], packages: /^(zod|yaml|@bufbuild\/cel|node:.+)$/ },
};

/** What of `adapters/` the stack may know: names and shapes, no behaviour. */
const shapesForTheStack = ['adapters/environment.ts', 'adapters/dynamodb/tables.ts'];

interface Import {
  file: string;
  target: string;
}

const root = resolve(import.meta.dirname, '../..');

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

const importsOf = (file: string, source = readFileSync(join(root, file), 'utf8')): Import[] =>
  [
    ...source.matchAll(
      /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm,
    ),
  ].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? '' }));

/** The offending imports, each as `file → target`. */
function offences(layer: string, imports: Import[]): string[] {
  const { folders, packages } = layers[layer] ?? { folders: [], packages: /^$/ };
  return imports
    .filter(({ file, target }) => {
      if (!target.startsWith('.')) return !packages.test(target);
      const path = relative(root, resolve(root, dirname(file), target));
      if (layer === 'lib' && path.startsWith('adapters/')) return !shapesForTheStack.includes(path);
      return !folders.includes(path.split('/')[0] ?? '');
    })
    .map(({ file, target }) => `${file} → ${target}`);
}

describe('the folder says the layer', () => {
  for (const layer of Object.keys(layers))
    it(`${layer}/ imports only what it may`, () => {
      const files = filesOf(layer);
      expect(files.length).toBeGreaterThan(0);
      expect(
        offences(
          layer,
          files.flatMap((file) => importsOf(file)),
        ),
      ).toEqual([]);
    });

  it('names a planted offence', () => {
    const planted = importsOf(
      'core/quorum.ts',
      `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';\nimport x from '../adapters/world.ts';`,
    );
    expect(offences('core', planted)).toEqual([
      'core/quorum.ts → @aws-sdk/client-dynamodb',
      'core/quorum.ts → ../adapters/world.ts',
    ]);
  });

  it('nobody outside core/ is imported as { z } from zod, and no table is scanned', () => {
    const sources = ['core', 'adapters', 'lambdas', 'web', 'lib', 'bin', 'local'].flatMap(filesOf);
    const texts = sources.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
    const guilty = (pattern: RegExp) => texts.filter(([, text]) => pattern.test(text)).map(([file]) => file);
    expect(guilty(/import \{ *z *\} from ['"]zod/)).toEqual([]);
    expect(guilty(/\bScanCommand\b|BatchWriteCommand|ExecuteStatementCommand/)).toEqual([]);
  });
});
