/**
 * The HTML of a mail of the service: one column, one button, light and dark, nothing loaded from anywhere. What it shows
 * of others is text: escaped, each in a direction of its own.
 */

interface NoticeBlock {
  /** Label and value. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Under them; undefined: none. */
  readonly link?: { readonly url: string; readonly title: string };
}

export interface NoticePage {
  readonly opening: string;
  readonly blocks: readonly NoticeBlock[];
  readonly button: { readonly url: string; readonly title: string };
  /** Small print, each a paragraph. */
  readonly footer: readonly string[];
  readonly settingsUrl: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');

const STYLE = `
  body { margin: 0; background: #f5f5f4; color: #1c1917; font: 16px/1.5 system-ui, sans-serif; }
  .page { max-width: 560px; margin: 0 auto; padding: 24px 16px; }
  .block { margin: 16px 0; padding: 12px 16px; background: #ffffff; border: 1px solid #d6d3d1; border-radius: 8px; }
  .label { color: #57534e; font-size: 14px; }
  .value { margin: 0 0 8px; overflow-wrap: anywhere; }
  .button { display: inline-block; padding: 12px 24px; border-radius: 8px; background: #1d4ed8; color: #ffffff; font-weight: 600; text-decoration: none; }
  .small { color: #57534e; font-size: 14px; }
  a { color: #1d4ed8; }
  @media (prefers-color-scheme: dark) {
    body { background: #1c1917; color: #f5f5f4; }
    .block { background: #292524; border-color: #57534e; }
    .label, .small { color: #d6d3d1; }
    .button { background: #93c5fd; color: #1c1917; }
    a { color: #93c5fd; }
  }`;

const block = ({ facts, link }: NoticeBlock): string =>
  [
    '<div class="block">',
    ...facts.map(
      ([label, value]) =>
        `<div class="label">${escaped(label)}</div>\n<p class="value"><bdi>${escaped(value)}</bdi></p>`,
    ),
    ...(link === undefined ? [] : [`<a href="${escaped(link.url)}">${escaped(link.title)}</a>`]),
    '</div>',
  ].join('\n');

export const noticeHtml = ({ opening, blocks, button, footer, settingsUrl }: NoticePage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<style>${STYLE}
</style>
</head>
<body>
<div class="page">
<p>${escaped(opening)}</p>
${blocks.map(block).join('\n')}
<p><a class="button" href="${escaped(button.url)}">${escaped(button.title)}</a></p>
${footer.map((text) => `<p class="small">${escaped(text)}</p>`).join('\n')}
<p class="small"><a href="${escaped(settingsUrl)}">Change how you are notified</a></p>
</div>
</body>
</html>
`;
