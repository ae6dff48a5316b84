import type { Part } from '../../core/render-value.ts';

/** The text that was rendered, from its parts. */
export function readBack(parts: readonly Part[]): string {
  return parts
    .map(({ kind, text }) => {
      if (kind === 'text') return text;
      const [, name = '', times = '1'] = /^(\S+?)(?: ×(\d+))?$/.exec(text) ?? [];
      const character = { TAB: '\t', CR: '\r', LF: '\n', SPACE: ' ' }[name];
      return (character ?? String.fromCodePoint(Number.parseInt(name.slice(2), 16))).repeat(Number(times));
    })
    .join('');
}
