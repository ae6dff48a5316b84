import { type AlertFacts, dayOf, timeOf } from './alert-facts.ts';
import { canonicalJson } from './canonical-json.ts';
import { renderLine } from './render-value.ts';

/** 160, less what SNS puts before the text: a display name of ten characters and `> `. */
const mostSeptets = 148;

const basic = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const extended = new Set('^{}\\[~]|€');

/** Length in the GSM-7 alphabet (3GPP TS 23.038) without its control characters; `undefined`: it cannot be said in it. */
export function septetsOf(text: string): number | undefined {
  let septets = 0;
  for (const character of text) {
    if (!basic.has(character) && !extended.has(character)) return undefined;
    septets += extended.has(character) ? 2 : 1;
  }
  return septets;
}

const elsewhere = 'details on the page';

/**
 * At most 148 septets, the link never cut. Sheds, in this order: the end of the lead (with `..`), the day, the lead, the
 * long form of the kind. A name or value that GSM-7 cannot say, that holds what cannot be seen, or that a telephone would turn into a link
 * of its own is not altered but left to the page, and the text says so.
 */
export function smsText(facts: AlertFacts): string {
  const { state, link } = facts;
  const { kind, short, until } = wordsOf(facts);
  const time = timeOf(state.deadline);
  const sameDay = state.deadline.slice(0, 10) === state.requestedAt.slice(0, 10);
  const full = sameDay ? time : `${dayOf(state.deadline)} ${time}`;
  const room = (text: string) => mostSeptets - lengthOf(text);

  for (const when of [full, time]) {
    const rest = `. ${until} ${when}. ${link}`;
    const lead = leadOf(facts, room(`${kind}: ${rest}`));
    if (lead !== undefined) return `${kind}: ${lead}${lead.endsWith('..') ? rest.slice(1) : rest}`;
  }
  const withoutLead = [
    `${kind}. ${until} ${time}. ${link}`,
    `${short}. ${until} ${time}. ${link}`,
    `${short}: ${link}`,
  ];
  return withoutLead.find((text) => room(text) >= 0) ?? link;
}

function wordsOf({ isAsked, owed }: AlertFacts): { kind: string; short: string; until: string } {
  if (!isAsked) return { kind: 'No longer with you', short: 'Closed', until: 'Was open to' };
  switch (owed.kind) {
    case 'asked':
      return { kind: 'Asked', short: 'Asked', until: 'By' };
    case 'escalated':
      return { kind: 'Now with you', short: 'Yours', until: 'Ends' };
  }
}

const shortestLead = 8;

/** The action's name and the values that lead, in at most `room` septets; `undefined` where that would say nothing. */
function leadOf({ action, values }: AlertFacts, room: number): string | undefined {
  const leading = values
    .filter(({ leads }) => leads)
    .map(({ value }) => (typeof value === 'string' ? value : canonicalJson(value)));
  const name = isSayable(action.actionName) ? action.actionName : '';
  const sayable = leading.filter((text) => text !== '' && isSayable(text));
  const isWhole = name !== '' && sayable.length === leading.length;
  const text = [name, sayable.join(', ')].filter((piece) => piece !== '').join(' ');
  const note = isWhole ? '' : text === '' ? elsewhere : `, ${elsewhere}`;
  if (lengthOf(text + note) <= room) return text + note;
  const cut = cutTo(text, room - lengthOf(`..${note}`));
  return lengthOf(cut) < shortestLead ? undefined : `${cut}..${note}`;
}

const madeToLink = /:\/\/|(?<![@\w.-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i;

const isSayable = (text: string): boolean =>
  text.length <= 1024 &&
  septetsOf(text) !== undefined &&
  renderLine(text).every(({ kind }) => kind === 'text') &&
  !madeToLink.test(text);

function cutTo(text: string, septets: number): string {
  let cut = '';
  let used = 0;
  for (const character of text) {
    used += lengthOf(character);
    if (used > septets) return cut.trimEnd();
    cut += character;
  }
  return cut;
}

/** As {@link septetsOf}; a character of the operator's own link that GSM-7 lacks counts as one. */
const lengthOf = (text: string): number => septetsOf(text) ?? text.length;
