import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markupText } from '@agent-mailbox/mail-store/markup-text';
import fc from 'fast-check';

test('words stay together within inline tags, and apart between blocks and cells', () => {
  const cases: readonly (readonly [html: string, text: string])[] = [
    ['<p>one<b>two</b>three</p><p>four</p>', ' onetwothree four '],
    ['<td>Total</td><td>5</td>', ' Total 5 '],
    ['a<br>b', 'a b'],
    ['caf&eacute; &amp; &#x41;&nbsp;&lt;b&gt;', 'café & A <b>'],
    ['<style>x{}</style>a<SCRIPT>if (a < b) c()</SCRIPT>b', ' a b'],
    ['a<!-- <p>not</p> -->b<!-- open', 'ab'],
    ['1 < 2 and 3 <4', '1 < 2 and 3 <4'],
    ['<p title="x">a</p', ' a</p'],
    ['<!DOCTYPE html><?xml ?>a', ' a'],
  ];
  for (const [html, text] of cases) assert.equal(markupText(html).replace(/ +/g, ' '), text.replace(/ +/g, ' '), html);
});

const FRAGMENTS = [
  '<',
  '<a',
  '<p>',
  '</',
  '<!--',
  '-->',
  '<script>',
  '</style',
  '<style>',
  '&',
  '&amp',
  '&#x',
  '"',
  '>',
  ' ',
];
const SMALL_CHARACTERS = 131_072;

/** CPU time of this process, least of several runs, in microseconds. */
function cpuOf(html: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage();
    markupText(html);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

test('work grows in proportion to the document, whatever two pieces it is made of', () => {
  markupText('<p>warm</p>'.repeat(20_000));
  for (const first of FRAGMENTS)
    for (const second of FRAGMENTS) {
      const pair = first + second;
      const html = pair.repeat(SMALL_CHARACTERS / pair.length);
      // Below a few milliseconds the clock and the collector are what is measured.
      const [once, fourTimes] = [Math.max(4_000, cpuOf(html)), cpuOf(html.repeat(4))];
      assert.ok(fourTimes / once < 10, `${pair}: ${once} µs, four times as long ${fourTimes} µs`);
    }
});

test('any text gives text', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string())), (pieces) => {
      assert.equal(typeof markupText(pieces.join('')), 'string');
    }),
  );
});
