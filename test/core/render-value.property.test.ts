import { describe, expect, test } from 'vitest';
import { renderText } from '../../core/render-value.ts';
import { readBack } from './read-back.ts';

/** What text parts may never hold; line feeds and spaces are looked at apart. */
const leavesNoInk = /[\p{C}\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\ufffc]/u;

describe('every code point', { timeout: 60_000 }, () => {
  test('leaves ink or is marked, and can be read back', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      const text = `a${character}b`;
      const parts = renderText(text);
      if (readBack(parts) !== text) throw new Error(`U+${code.toString(16)} cannot be read back`);
      const shown = parts.filter(({ kind }) => kind === 'text').map((part) => part.text.replace(/[ \n]/g, ''));
      if (shown.some((piece) => leavesNoInk.test(piece))) throw new Error(`U+${code.toString(16)} is not visible`);
      const marked = parts.filter(({ kind }) => kind === 'mark');
      if (marked.length > 0 && !/^[ -~×]+$/.test(marked.map((part) => part.text).join('')))
        throw new Error(`the mark of U+${code.toString(16)} is not plain`);
    }
  });

  test('the guard sees one that gets through', () => {
    for (const character of '\u200b\u202e\u{e0100}\u3164\u2800\u00a0\ufeff\ud800\u0000\u007f\u0085')
      expect(leavesNoInk.test(character)).toBe(true);
    expect(leavesNoInk.test('é漢🙂א')).toBe(false);
  });
});
