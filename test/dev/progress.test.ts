import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { progressOn } from '../../operations/progress.ts';

/** A terminal, or a file. @returns what was written */
async function written(isTTY: boolean): Promise<string> {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  await progressOn(Object.assign(stream, { isTTY }) as NodeJS.WriteStream).step('Dashboard', async (note) => {
    for (const count of [1, 2, 3]) note(`compressing files: ${count} of 3`, { passing: true });
    note('to be kept');
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  return text.replaceAll(/\u001b\[\d+m/g, '');
}

test('on a terminal, a passing note replaces the one before it, and the line of the step replaces the last', async () => {
  const lines = (await written(true)).split('\n').map((line) => line.split('\r\u001b[2K').at(-1));
  assert.match(lines[0] ?? '', /… Dashboard: to be kept$/);
  assert.match(lines[1] ?? '', /✓ Dashboard \d/);
  assert.equal((await written(true)).match(/\r\u001b\[2K/g)?.length, 4);
});

test('elsewhere, passing notes are lines, and not more than one in ten seconds', async () => {
  const lines = (await written(false)).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.trim().replace(/ \d+\.\d s$/, '')),
    ['… Dashboard: compressing files: 1 of 3', '… Dashboard: to be kept', '✓ Dashboard'],
  );
});
