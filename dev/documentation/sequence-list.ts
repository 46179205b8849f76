import { type Html, html } from './html.ts';

const MESSAGE = /^(\w[\w ]*?)\s*(-{1,2}>>?|-{1,2}x|-{1,2}\))\s*([+-]?\w[\w ]*?)\s*:\s*(.*)$/;
const NAME = /^(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$/;
const NOTE = /^[Nn]ote [^:]+:\s*(.*)$/;

/** A sequence diagram as a list of its messages, which a phone and a screen reader can show. */
export function sequenceList(diagram: string): Html {
  const lines = diagram.split('\n').map((line) => line.trim());
  const names = new Map(
    lines.flatMap((line) => {
      const [, id, name] = NAME.exec(line) ?? [];
      return id === undefined ? [] : [[id, name ?? id] as const];
    }),
  );
  const nameOf = (id: string): string => names.get(id.replace(/^[+-]/, '')) ?? id;
  const items = lines.flatMap((line) => {
    const [, from, , to, text] = MESSAGE.exec(line) ?? [];
    if (from !== undefined && to !== undefined)
      return [html`<li><b>${nameOf(from)}</b> → <b>${nameOf(to)}</b>: ${text}</li>`];
    const [, note] = NOTE.exec(line) ?? [];
    return note === undefined ? [] : [html`<li>${note}</li>`];
  });
  return html`<ol class="sequence">${items}</ol>`;
}
