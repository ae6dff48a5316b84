import { printText, renderLine } from '../core/render-value.ts';

/** Where a command writes. Everything that comes from files or the service goes through {@link inert} first. */
export interface Output {
  line(text?: string): void;
  note(text: string): void;
}

export const output: Output = {
  line: (text = '') => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
};

/** A text on one line, whatever it holds: what could not be seen is named, nothing reaches the terminal as a command. */
export const inert = (text: string): string => printText(renderLine(text), ['‹', '›']);

/** Columns as wide as they need to be. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd(),
  );
}

const longestShown = 60;

/** Arguments in a table. */
export function shortly(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}… (${text.length} characters)` : text;
}

export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
