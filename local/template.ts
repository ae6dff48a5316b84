import { type Assembly, readAssembly } from './cloud-assembly.ts';
import { resolveIntrinsics } from './intrinsics.ts';
import { inertTypes, type Naming, playedTypes, type Surroundings } from './resource-types.ts';

/** The account that fauxqs has. */
const accountId = '000000000000';

export interface PlayedResource {
  logicalId: string;
  type: string;
  /** Construct path below the stack, without `/Resource`: `requests`, `Api/Authorizer`. */
  path: string;
  /** Every intrinsic function resolved. */
  properties: Record<string, unknown>;
}

export interface PlayedTemplate {
  stackName: string;
  accountId: string;
  region: string;
  resources: PlayedResource[];
  /** What is knowingly not played, and why. */
  inert: { logicalId: string; type: string; reason: string }[];
  ofType(type: string): PlayedResource[];
  /** Throws for an id that the template does not have, or that is inert. */
  get(logicalId: string): PlayedResource;
  outputs: Record<string, string>;
  /** The folder of a function's bundle. */
  assetFolder(resource: PlayedResource): string;
}

/** `requests` for the function at `requests/function`: the name of its construct. */
export const functionName = ({ path }: PlayedResource): string =>
  path
    .replace(/\/function$/i, '')
    .split('/')
    .at(-1) ?? path;

/**
 * Reads what `cdk synth` wrote into `cdkOut` (one stack), every intrinsic resolved; names and ARNs are made from logical
 * ids. Throws, with the logical id, for a resource type, an intrinsic or an attribute that is not known.
 */
export function readTemplate(cdkOut: string, surroundings: Surroundings): PlayedTemplate {
  const assembly = readAssembly(cdkOut);
  const { template } = assembly;
  const references = referencesIn(template.Resources, { accountId, region: assembly.region, surroundings });
  const resources: PlayedResource[] = [];
  const inert: PlayedTemplate['inert'] = [];
  for (const [logicalId, { Type: type, Properties = {} }] of Object.entries(template.Resources)) {
    const reason = inertTypes[type]?.reason;
    if (reason) {
      inert.push({ logicalId, type, reason });
      continue;
    }
    refuseFixedName(logicalId, type, Properties);
    const path = assembly.paths.get(logicalId)?.replace(/\/Resource$/, '') ?? logicalId;
    const properties = resolveIntrinsics(Properties, references, logicalId) as Record<string, unknown>;
    resources.push({ logicalId, type, path, properties });
  }
  const outputs = Object.entries(template.Outputs ?? {}).map(
    ([name, { Value }]) => [name, String(resolveIntrinsics(Value, references, `output ${name}`))] as const,
  );
  return {
    stackName: assembly.stackName,
    accountId,
    region: assembly.region,
    resources,
    inert,
    ofType: (type) => resources.filter((resource) => resource.type === type),
    get: (logicalId) => {
      const found = resources.find((resource) => resource.logicalId === logicalId);
      if (!found) throw new Error(`${logicalId} is not among what is played of ${assembly.stackName}`);
      return found;
    },
    outputs: Object.fromEntries(outputs),
    assetFolder: (resource) => assetFolder(assembly, resource),
  };
}

function referencesIn(resources: Assembly['template']['Resources'], naming: Naming) {
  const pseudo: Record<string, string> = {
    'AWS::AccountId': naming.accountId,
    'AWS::Partition': 'aws',
    'AWS::Region': naming.region,
    'AWS::URLSuffix': 'amazonaws.com',
  };
  const typeOf = (logicalId: string) => {
    const type = resources[logicalId]?.Type;
    if (!type) throw new Error(`"${logicalId}" is neither a resource nor a pseudo parameter that is played`);
    const known = playedTypes[type] ?? inertTypes[type];
    if (!known) throw new Error(`"${logicalId}" is of the type ${type}, which is not played`);
    return { type, known };
  };
  return {
    ref: (name: string) => {
      const value = pseudo[name];
      if (value) return value;
      const { type, known } = typeOf(name);
      if (!known.ref) throw new Error(`Ref of ${name} (${type}) is not played`);
      return known.ref(name, naming);
    },
    attribute: (logicalId: string, attribute: string) => {
      const { type, known } = typeOf(logicalId);
      const value = known.attributes?.[attribute];
      if (value) return value(logicalId, naming);
      const allowed = Object.keys(known.attributes ?? {}).join(', ') || 'none';
      throw new Error(`Fn::GetAtt ${logicalId}.${attribute} is not played; of ${type}: ${allowed}`);
    },
  };
}

function refuseFixedName(logicalId: string, type: string, properties: Record<string, unknown>): void {
  const known = playedTypes[type];
  if (!known) throw new Error(`${logicalId}: the type ${type} is neither played nor listed as inert`);
  if (known.nameProperty && known.nameProperty in properties) {
    throw new Error(`${logicalId}.${known.nameProperty}: names are made from logical ids; a fixed one is not played`);
  }
}

function assetFolder(assembly: Assembly, { logicalId, properties }: PlayedResource): string {
  const key = (properties.Code as { S3Key?: unknown } | undefined)?.S3Key;
  const folder = typeof key === 'string' ? assembly.assets.get(key.replace(/\.zip$/, '')) : undefined;
  if (!folder) throw new Error(`${logicalId}.Code: ${JSON.stringify(properties.Code)} is not an asset of the assembly`);
  return folder;
}
