import type { Answer } from './harness.ts';

/** 2xx as they are, refusals by their code: what a test compares. */
export const codeOf = ({ status, body }: Answer): number | string => (status < 300 ? status : (body.code ?? status));

export const codesOf = (answers: readonly Answer[]): (number | string)[] => answers.map(codeOf);

export const times = <Result>(count: number, make: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** One after the other: a function's next worker starts only where calls meet. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  make: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) results.push(await make(item, index));
  return results;
}
