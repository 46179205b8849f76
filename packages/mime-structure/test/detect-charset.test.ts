import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeCharset, decodeUndeclared, detectCharset } from '@agent-mailbox/mime-structure/charset';

/** Bytes of texts in encodings that Node can only read: every character of one or two bytes is read once. */
function encode(texts: readonly (readonly [text: string, charset: string])[]): Buffer[] {
  const tables = new Map<string, ReadonlyMap<string, Buffer>>();
  return texts.map(([text, charset]) => {
    const table = tables.get(charset) ?? charactersOf(charset);
    tables.set(charset, table);
    return Buffer.concat([...text].map((character) => table.get(character) ?? assert.fail(`${charset}: ${character}`)));
  });
}

function charactersOf(charset: string): ReadonlyMap<string, Buffer> {
  const decoder = new TextDecoder(charset);
  const table = new Map<string, Buffer>();
  for (let first = 0; first <= 0xff; first++)
    for (const bytes of [[first], ...Array.from({ length: 0x100 }, (_, second) => [first, second])]) {
      const [character = '', ...more] = decoder.decode(Uint8Array.from(bytes));
      if (more.length === 0 && character !== '' && character !== '\ufffd' && !table.has(character))
        table.set(character, Buffer.from(bytes));
    }
  return table;
}

const EAST_ASIAN = [
  ['您的验证码是 482913，请在十分钟内输入。', 'gb2312'],
  ['关于下周会议的通知', 'gb2312'],
  ['张三', 'gb2312'],
  ['Re: 订单确认 12345', 'gb2312'],
  ['您好，這是一封測試郵件，請確認您的帳戶。', 'big5'],
  ['會議通知', 'big5'],
  ['Re: 關於下週的會議', 'big5'],
  ['ご登録ありがとうございます。確認コードは 482913 です。', 'shift_jis'],
  ['会議のお知らせ', 'shift_jis'],
  ['田中さんからのメール', 'shift_jis'],
  ['안녕하세요. 인증번호는 482913 입니다.', 'euc-kr'],
] as const;

const WESTERN = [
  ['Jörg Müller', 'windows-1252'],
  ['Ärger mit Übergrößen: äöüß ÄÖÜ', 'windows-1252'],
  ['François Côté, à bientôt', 'windows-1252'],
  ['Señor Muñoz ¿qué tal?', 'windows-1252'],
  ['“It’s” – don’t, we’re', 'windows-1252'],
  ['Åse Ødegård Æ', 'windows-1252'],
  ['Größe 5 €', 'windows-1252'],
  ['é', 'windows-1252'],
  ['ÄÖ', 'windows-1252'],
  ['ßäöü', 'windows-1252'],
] as const;

describe('text without a charset', () => {
  it('is read in the East Asian encoding it is written in', () => {
    for (const [i, bytes] of encode(EAST_ASIAN).entries())
      assert.equal(decodeUndeclared(bytes), EAST_ASIAN[i]?.[0], EAST_ASIAN[i]?.[1]);
  });
  it('of Western Europe stays what it is', () => {
    for (const [i, bytes] of encode(WESTERN).entries()) assert.equal(decodeUndeclared(bytes), WESTERN[i]?.[0]);
  });
  it('in Cyrillic is not taken for Chinese', () => {
    const texts = ['Привет, как дела', 'ПРИВЕТ МИР', 'Здравствуйте'].flatMap((text) => [
      [text, 'cp1251'] as const,
      [text, 'koi8-r'] as const,
    ]);
    for (const bytes of encode(texts)) assert.equal(detectCharset(bytes), 'windows-1252');
  });
  it('cut within its last character is read up to there', () => {
    const [bytes = Buffer.alloc(0)] = encode([EAST_ASIAN[1]]);
    assert.equal(decodeUndeclared(bytes.subarray(0, -1)).slice(0, -1), '关于下周会议的通');
  });
});

describe('UTF-8 with a damaged byte', () => {
  it('stays UTF-8: at the end, where a name was cut, and between', () => {
    const name = Buffer.from('Jörg Müller-Größe');
    assert.equal(decodeUndeclared(name.subarray(0, name.indexOf('ß') + 1)), 'Jörg Müller-Grö\ufffd');
    assert.equal(decodeUndeclared(Buffer.concat([name, Buffer.from([0xc3])])), 'Jörg Müller-Größe\ufffd');
    assert.equal(
      decodeUndeclared(Buffer.concat([name, Buffer.from([0xe4]), name])).replace('\ufffd', ''),
      `${name}${name}`,
    );
  });
  it('does not make Latin-1 UTF-8', () =>
    assert.equal(decodeUndeclared(Buffer.from('Grö\u00dfe: Ã¼ und ä', 'latin1')), 'Größe: Ã¼ und ä'));
});

describe('byte order marks', () => {
  it('go before the label, and UTF-16 without one is little endian', () => {
    assert.equal(decodeCharset(Buffer.from([0xfe, 0xff, 0, 0x41]), 'utf-16'), 'A');
    assert.equal(decodeCharset(Buffer.from([0xff, 0xfe, 0x41, 0]), 'utf-16be'), 'A');
    assert.equal(decodeCharset(Buffer.from([0x41, 0]), 'utf-16'), 'A');
    assert.equal(decodeCharset(Buffer.from('\ufeffä'), 'iso-8859-1'), 'ä');
  });
});
