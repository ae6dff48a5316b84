import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().optional(),
      properties: z.object({ templateFile: z.string().optional(), file: z.string().optional() }).optional(),
      metadata: z.record(z.string(), z.array(z.object({ type: z.string(), data: z.unknown() }))).optional(),
      additionalMetadataFile: z.string().optional(),
    }),
  ),
});
const metadataFile = manifest.shape.artifacts.valueType.shape.metadata.unwrap();

const template = z.strictObject({
  Resources: z.record(
    z.string(),
    z.strictObject({
      Type: z.string(),
      Properties: z.record(z.string(), z.unknown()).optional(),
      Metadata: z.unknown().optional(),
      DependsOn: z.unknown().optional(),
      UpdateReplacePolicy: z.string().optional(),
      DeletionPolicy: z.string().optional(),
    }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).optional(),
  /** The bootstrap's version and the rule on it: checked when the stack is deployed. */
  Parameters: z.strictObject({ BootstrapVersion: z.unknown() }).optional(),
  Rules: z.strictObject({ CheckBootstrapVersion: z.unknown() }).optional(),
  Description: z.string().optional(),
  Metadata: z.unknown().optional(),
});

const assets = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string(), packaging: z.string() }) })),
});

export interface Assembly {
  stackName: string;
  region: string;
  template: z.infer<typeof template>;
  /** Construct paths below the stack, by logical id. */
  paths: ReadonlyMap<string, string>;
  /** Absolute folders of the assets, by their hash. */
  assets: ReadonlyMap<string, string>;
}

/** The one stack in a folder that `cdk synth` wrote. Throws where there is none or several, or where its region is open. */
export function readAssembly(cdkOut: string): Assembly {
  const { artifacts } = read(cdkOut, 'manifest.json', manifest);
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stackName, stack] = stacks[0] ?? [];
  if (!stackName || !stack || stacks.length > 1) {
    throw new Error(`${cdkOut} holds ${stacks.length} stacks; exactly one is played`);
  }
  const [account, region] = stack.environment?.replace('aws://', '').split('/') ?? [];
  if (account !== 'unknown-account' || !region || region === 'unknown-region') {
    throw new Error(`${stackName} is for ${stack.environment}; what is played states a region and no account`);
  }
  const metadata =
    stack.metadata ?? (stack.additionalMetadataFile ? read(cdkOut, stack.additionalMetadataFile, metadataFile) : {});
  const assetFiles = read(cdkOut, `${stackName}.assets.json`, assets).files;
  return {
    stackName,
    region,
    template: read(cdkOut, stack.properties?.templateFile ?? `${stackName}.template.json`, template),
    paths: pathsByLogicalId(metadata),
    assets: new Map(Object.entries(assetFiles).map(([hash, { source }]) => [hash, join(cdkOut, source.path)])),
  };
}

function pathsByLogicalId(metadata: z.infer<typeof metadataFile>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(metadata).flatMap(([path, entries]) =>
      entries
        .filter(({ type, data }) => type === 'aws:cdk:logicalId' && typeof data === 'string')
        .map(({ data }) => [data as string, path.split('/').slice(2).join('/')] as const),
    ),
  );
}

function read<Schema extends z.ZodType>(folder: string, file: string, schema: Schema): z.infer<Schema> {
  const checked = schema.safeParse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
  if (checked.success) return checked.data;
  throw new Error(`${join(folder, file)} has something that is not played:\n${z.prettifyError(checked.error)}`);
}
