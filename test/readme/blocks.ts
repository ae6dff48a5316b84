/** The README's shell blocks. Those that need the service say so in their first line. */
export interface ShellBlock {
  code: string;
  needsService: boolean;
}

const needsService = '# needs the running service';

export const shellBlocks = (markdown: string): ShellBlock[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code = '']) => ({
    code,
    needsService: code.startsWith(`${needsService}\n`),
  }));

/** What a block says of its own output: the comments behind its commands. `…` stands for anything. */
export const promisedBy = (code: string): string[] =>
  [...code.matchAll(/^[^#\n].*?[ ]{2,}# (.+)$/gm)].map(([, promise = '']) => promise);

/** Throws unless `output` holds everything that `code` says of it, in that order. */
export function holdsPromises(code: string, output: string): void {
  let from = 0;
  for (const promise of promisedBy(code))
    for (const piece of promise.split('…')) {
      const found = output.indexOf(piece, from);
      if (found < 0) throw new Error(`the README promises ${promise}; what came is ${JSON.stringify(output)}`);
      from = found + piece.length;
    }
}
