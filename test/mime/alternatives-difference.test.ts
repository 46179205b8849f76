import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternativesDifference } from '#mime/alternatives-difference.ts';
import { htmlContent } from '#mime/html-content.ts';

function differenceOf(text: string, html: string) {
  const { text: htmlText, links } = htmlContent(html);
  return alternativesDifference({ text, htmlText, htmlLinks: links });
}

const SAME = { onlyInText: [], onlyInHtml: [], linksOnlyInText: [], linksOnlyInHtml: [], complete: true };

const ALIKE: readonly (readonly [what: string, text: string, html: string])[] = [
  [
    'layout, case and punctuation',
    'Dear ADA,\n\n> the price is 1,240.50 EUR.\n',
    '<p>Dear <b>Ada</b></p><div>the price is 1,240.50 EUR</div>',
  ],
  ['a list', '1. bolts\n2. nuts\n\n* screws', '<ol><li>bolts<li>nuts</ol><ul><li>screws</ul>'],
  [
    'a link with other words',
    'Pay here: https://acme.example/pay?id=1',
    '<p>Pay <a href="https://acme.example/pay?id=1">here</a></p>',
  ],
  [
    'a link that shows its address',
    'See https://acme.example/a/',
    '<p>See <a href="https://acme.example/a">acme.example/a</a></p>',
  ],
  [
    'an address of mail',
    'Write to Ada@acme.example.',
    '<p>Write to <a href="mailto:ada@acme.example">ada@acme.example</a></p>',
  ],
  ['invisible characters and typographic apostrophes', 'don’t pay', "<p>d\u200bon't pay</p>"],
  ['nothing on both sides', '', '<p></p>'],
];
for (const [what, text, html] of ALIKE)
  test(`no difference: ${what}`, () => assert.deepEqual(differenceOf(text, html), SAME));

test('other words are named, where they are', () => {
  const found = differenceOf(
    'You owe us 10 EUR by Friday, says Ada',
    '<p>You owe us <b>9,000</b> EUR by Friday, says Ada</p>',
  );
  assert.deepEqual([found.onlyInText, found.onlyInHtml], [['10'], ['9,000']]);
});

test('another order of the same words is a difference', () => {
  const found = differenceOf('Pay Ada, not Bob', '<p>Pay Bob, not Ada</p>');
  assert.notDeepEqual([found.onlyInText, found.onlyInHtml], [[], []]);
});

test('a sign before or behind a number counts', () => {
  assert.notDeepEqual(differenceOf('-5', '<p>5</p>'), SAME);
  assert.notDeepEqual(differenceOf('5 %', '<p>5 €</p>'), SAME);
});

test('links that lead elsewhere are named', () => {
  const found = differenceOf(
    'Pay here: https://acme.example/pay',
    '<p>Pay <a href="https://evil.example/pay">here</a> or <a href="mailto:thief@evil.example">by mail</a></p>',
  );
  assert.deepEqual(found.linksOnlyInText, ['https://acme.example/pay']);
  assert.deepEqual(found.linksOnlyInHtml, ['https://evil.example/pay', 'mailto:thief@evil.example']);
});

test('long content is compared within limits of time, and says that there may be more', () => {
  const words = (from: number) => Array.from({ length: 100_000 }, (_, i) => `w${(i * 7919 + from) % 65_521}`).join(' ');
  const started = performance.now();
  const found = differenceOf(words(1), `<p>${words(2)}</p>`);
  assert.equal(found.complete, false);
  assert.ok(found.onlyInHtml.length > 0 && found.onlyInHtml.every((piece) => piece.length <= 201));
  assert.ok(performance.now() - started < 5_000);
});
