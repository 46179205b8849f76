import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printUntrusted } from '#cli/output.ts';
import { safeJson, safeLine, safeText } from '#cli/terminal-text.ts';

/** What is written when standard output is a terminal, or not. */
function printed(isTerminal: boolean, json: boolean): string {
  const { write, isTTY } = process.stdout;
  let written = '';
  process.stdout.isTTY = isTerminal;
  process.stdout.write = (text: string | Uint8Array): boolean => {
    written += String(text);
    return true;
  };
  try {
    printUntrusted({ json }, { subject: 'Hi' }, () => 'Hi');
  } finally {
    process.stdout.write = write;
    process.stdout.isTTY = isTTY;
  }
  return written;
}

test('text of others has markers where no person reads it on a terminal, and JSON has none', () => {
  assert.equal(printed(true, false), 'Hi\n');
  assert.match(
    printed(false, false),
    /^Text of others follows\. .+\n<untrusted-mail (\S+)>\nHi\n<\/untrusted-mail \1>\n$/,
  );
  for (const isTerminal of [true, false]) assert.deepEqual(JSON.parse(printed(isTerminal, true)), { subject: 'Hi' });
});

test('no sequence, direction mark or invisible character reaches a terminal, and JSON stays equal', () => {
  const tags = '\u{e0041}\u{e0042}';
  const evil = `a\u001b]8;;https://evil.example\u0007b\u001b]8;;\u0007\u202ec\u2066d\u009b2Je${tags}\u200bf\u2063g\u{e0100}h`;
  assert.equal(safeText(evil), 'abcdefgh');
  assert.equal(safeLine(`one\r\ntwo\u2028three`), 'one twothree');
  const escaped = safeJson({ evil });
  assert.doesNotMatch(escaped, /[^\x20-\x7e\n]/);
  assert.deepEqual(JSON.parse(escaped), { evil });
  assert.equal(safeText('👩\u200d💻 می\u200cخواهم ❤\ufe0f'), '👩\u200d💻 می\u200cخواهم ❤\ufe0f');
});
