/** What a template's intrinsic functions refer to. Both throw for what is not known. */
export interface References {
  ref(name: string): string;
  attribute(logicalId: string, attribute: string): string;
}

const noValue = Symbol('AWS::NoValue');

/**
 * A copy of `value` with every intrinsic function replaced by its value. `where` (logical id and property) stands in the
 * errors. Throws for every function but `Ref`, `Fn::GetAtt`, `Fn::Join` and the short form of `Fn::Sub`: guessing would
 * play another stack than the one that is deployed.
 */
export function resolveIntrinsics(value: unknown, references: References, where: string): unknown {
  const resolved = resolve(value, references, where);
  if (resolved === noValue) throw new Error(`${where}: AWS::NoValue stands where a value is needed`);
  return resolved;
}

function resolve(value: unknown, references: References, where: string): unknown {
  if (Array.isArray(value)) {
    return value
      .map((item, index) => resolve(item, references, `${where}[${index}]`))
      .filter((item) => item !== noValue);
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const intrinsic = members.find(([name]) => name.startsWith('Fn::') || (name === 'Ref' && members.length === 1));
  if (!intrinsic) {
    const resolved = members.map(([name, member]) => [name, resolve(member, references, `${where}.${name}`)] as const);
    return Object.fromEntries(resolved.filter(([, member]) => member !== noValue));
  }
  const [name, argument] = intrinsic;
  if (members.length > 1) throw new Error(`${where}: ${name} has members beside it: ${Object.keys(value).join(', ')}`);
  return evaluate(name, argument, references, where);
}

function evaluate(name: string, argument: unknown, references: References, where: string): unknown {
  if (name === 'Ref') {
    const target = text(argument, where, name);
    return target === 'AWS::NoValue' ? noValue : named(where, () => references.ref(target));
  }
  if (name === 'Fn::GetAtt') {
    if (!Array.isArray(argument) || argument.length !== 2) throw wrongShape(where, name, argument);
    const [logicalId, attribute] = argument.map((item) => text(item, where, name));
    return named(where, () => references.attribute(logicalId ?? '', attribute ?? ''));
  }
  if (name === 'Fn::Join') {
    if (!Array.isArray(argument) || argument.length !== 2) throw wrongShape(where, name, argument);
    const parts = resolve(argument[1], references, where);
    if (!Array.isArray(parts)) throw wrongShape(where, name, argument);
    const joined = parts.map((part) => text(part, where, name)).join(text(argument[0], where, name));
    if (!joined.includes('.execute-api.')) return joined;
    throw new Error(`${where}: ${joined} is an address of the API that is not here; use its ApiEndpoint attribute`);
  }
  if (name === 'Fn::Sub' && typeof argument === 'string') {
    return argument.replace(/\$\{([^}]*)\}/g, (whole, target: string) => {
      if (target.startsWith('!')) return whole.replace('!', '');
      const dot = target.indexOf('.');
      return named(where, () =>
        dot < 0 ? references.ref(target) : references.attribute(target.slice(0, dot), target.slice(dot + 1)),
      );
    });
  }
  const form = name === 'Fn::Sub' ? 'Fn::Sub with variables' : name;
  throw new Error(`${where}: ${form} is not played; Ref, Fn::GetAtt, Fn::Join and Fn::Sub of a string are`);
}

function named(where: string, look: () => string): string {
  try {
    return look();
  } catch (cause) {
    throw new Error(`${where}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

function text(value: unknown, where: string, name: string): string {
  if (typeof value !== 'string') throw wrongShape(where, name, value);
  return value;
}

const wrongShape = (where: string, name: string, argument: unknown) =>
  new Error(`${where}: ${name} of ${JSON.stringify(argument)} is not played`);
