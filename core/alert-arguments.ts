import { type AlertValue, charactersOf, printName } from './alert-facts.ts';
import { printText } from './render-value.ts';

/** Mail programs hide what is long, and SNS takes 256 KiB for all texts of a message together. */
const mostBytes = 20 * 1024;

/** Lines have at least eight bytes: no more of them could fit. */
const mostLines = mostBytes / 8;

/** A value that leads is never left out, unless it is so long that four such would not fit. */
const longestLead = mostBytes / 4;

const widestLabel = 24;
const longestLabel = 120;

interface Entry {
  value: AlertValue;
  /** As it stands in the mail: whole, or left out. */
  text: string;
  leftOut: boolean;
}

/**
 * The arguments as lines of a mail. Over 20 KiB, whole arguments are left out from the largest down, those that lead
 * last, each with a mark that says how long it is and where to read it; what would still be too much is left out from
 * the end, with a mark of its own. Nothing is left out without the last line saying so.
 */
export function printArguments(all: readonly AlertValue[]): string[] {
  const values = all.slice(0, mostLines);
  const labels = values.map(({ pointer }) => printName(pointer, longestLabel));
  const width = labels.reduce((widest, { length }) => Math.max(widest, Math.min(length, widestLabel)), 0);
  const line = (index: number, text: string) =>
    `  ${(labels[index] ?? '').padEnd(width)}  ${text.replaceAll('\n', `\n${' '.repeat(width + 4)}`)}`;

  const entries = values.map(
    (value, index): Entry => ({ value, text: line(index, printText(value.parts, ['[', ']'])), leftOut: false }),
  );
  let total = entries.reduce((sum, { text }) => sum + bytesOf(text), 0);
  for (const index of largestFirst(entries)) {
    const entry = entries[index];
    if (total <= mostBytes || entry === undefined) break;
    const mark = line(index, `[left out: ${grouped(charactersOf(entry.value.value))} characters, on the page]`);
    const saved = bytesOf(entry.text) - bytesOf(mark);
    if (saved <= 0) continue;
    entries[index] = { ...entry, text: mark, leftOut: true };
    total -= saved;
  }

  const shown = entries.slice(0, howManyFit(entries));
  const cut = all.length - shown.length;
  const leftOut = shown.filter((entry) => entry.leftOut).length + cut;
  const unseen = shown.filter(({ value, leftOut: gone }) => !gone && !value.secret && holdsMark(value)).length;
  return [
    ...shown.map(({ text }) => text),
    ...(cut > 0 ? [`  [left out: ${grouped(cut)} more values, on the page]`] : []),
    ...(unseen > 0
      ? [
          `  ! ${unseen === 1 ? '1 value holds' : `${grouped(unseen)} values hold`} what cannot be seen; it is marked in square brackets.`,
        ]
      : []),
    ...(leftOut > 0
      ? [`  ! This mail is shortened: ${grouped(leftOut)} of ${grouped(all.length)} values are only on the page.`]
      : []),
  ];
}

function largestFirst(entries: readonly Entry[]): number[] {
  const sizes = entries.map(({ text }) => bytesOf(text));
  const leads = (index: number) => Number(entries[index]?.value.leads && (sizes[index] ?? 0) <= longestLead);
  return [...entries.keys()].sort(
    (one, other) => leads(one) - leads(other) || (sizes[other] ?? 0) - (sizes[one] ?? 0) || one - other,
  );
}

function howManyFit(entries: readonly Entry[]): number {
  let total = 0;
  const tooMany = entries.findIndex(({ text }) => {
    total += bytesOf(text);
    return total > mostBytes;
  });
  return tooMany === -1 ? entries.length : tooMany;
}

const holdsMark = ({ parts, label }: AlertValue): boolean => [...parts, ...label].some(({ kind }) => kind === 'mark');

const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8') + 1;

/** `231044` → `231 044`. */
const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
