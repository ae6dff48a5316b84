/** One character that nobody sees: control, format, default-ignorable, a line or paragraph separator, half a surrogate pair, a blank Braille cell. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

const allInvisible = new RegExp(invisible, 'gu');

export const withoutInvisible = (text: string): string => text.replace(allInvisible, '');

/** Whether there is nothing to read in it. */
export const isBlank = (text: string): boolean => withoutInvisible(text).trim() === '';

/** `U+200B`. */
export const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
