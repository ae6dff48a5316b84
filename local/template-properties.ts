/** Reading properties of a resource whose intrinsics are resolved. Each throws with `where` when the shape is another one. */
type Properties = Record<string, unknown>;

export function textOf(properties: Properties, name: string, where: string): string {
  const value = properties[name];
  if (typeof value === 'string') return value;
  throw unexpected(where, name, value, 'a string');
}

export function textListOf(properties: Properties, name: string, where: string): string[] {
  const value = properties[name];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw unexpected(where, name, value, 'a list of strings');
}

export function sectionOf(properties: Properties, name: string, where: string): Properties {
  const value = properties[name];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Properties;
  throw unexpected(where, name, value, 'an object');
}

const unexpected = (where: string, name: string, value: unknown, wanted: string) =>
  new Error(`${where}.${name} is ${JSON.stringify(value)}; ${wanted} is needed`);

/** Refuses a property that would change what happens and is not played. */
export function refuseUnplayed(properties: Properties, played: readonly string[], where: string): void {
  const unplayed = Object.keys(properties).filter((name) => !played.includes(name));
  if (unplayed.length > 0) throw new Error(`${where}: ${unplayed.join(', ')} is not played; ${played.join(', ')} are`);
}
